//! A file that is no skill, such as a policy: downloaded with the user's curl, and its signature.

use crate::error::Result;
use crate::marketplace::Market;
use crate::marketplace::reference::WebUrl;
use crate::marketplace::signature::unmet_by_policy;
use crate::signing::Demand;

impl Market<'_> {
    /// The file at an address, of at most `max` bytes.
    ///
    /// # Errors
    /// When it cannot be downloaded, or an address on the way may not be contacted.
    pub fn download(&self, url: &str, max: u64) -> Result<Vec<u8>> {
        let staging = self.home_staging()?;
        let (bytes, _) = self.fetcher(&staging).download(&WebUrl::parse(url)?, max)?;
        Ok(bytes)
    }

    /// Why the signature of a policy does not meet a demand; `None` if it does.
    ///
    /// # Errors
    /// When the signers cannot be read, or `ssh-keygen` does not answer.
    pub fn unmet_by_policy(
        &self,
        signed: &[u8],
        armored: &str,
        demand: &Demand,
    ) -> Result<Option<String>> {
        let staging = self.home_staging()?;
        unmet_by_policy(self.tool(&staging), signed, armored, demand)
    }
}
