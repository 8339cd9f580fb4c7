//! The files of a skill in its layers, in the written form and in those that other tools publish:
//! tars, compressed or not, and files that are a blob each.

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Failure, Layers, Memory, is_packed, tree};
use crate::marketplace::reference::OciRepo;
use crate::marketplace::registry::{Client, Descriptor, Manifest, annotation, media_type};
use crate::skill::one_line;
use crate::sys::limits;
use crate::sys::text::has_any;

/// Layers of one artifact: some tools make one of each file.
const LAYERS: usize = 256;
/// Kinds of artifacts, by type or configuration, that may hold a skill though they do not say so:
/// images, and what `oras push` makes.
const PLAIN: [&str; 5] = [
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.docker.container.image.v1+json",
    "application/vnd.unknown.artifact.v1",
    "application/vnd.unknown.config.v1+json",
    media_type::EMPTY,
];
/// How images mark what a layer removes from those below.
const WHITEOUT: &str = ".wh.";

impl Client<'_> {
    /// The files of a skill. Each blob has been checked.
    ///
    /// # Errors
    /// When it is no skill by its type, its layers are too large or of an unknown type, or one
    /// cannot be fetched or unpacked.
    pub fn files(&self, repo: &OciRepo, manifest: &Manifest) -> Result<Memory, Failure> {
        let kind = manifest.kind();
        if !kind.is_empty() && !kind.contains("skill") && !PLAIN.contains(&kind) {
            let text = format!("`{repo}` is of the type `{}`, and no skill", one_line(kind));
            return Err(Error::new(text)
                .hint("give the repository of a skill")
                .into());
        }
        let layers = manifest.layers.as_deref().unwrap_or_default();
        let is_written_form = manifest.artifact_type.as_deref() == Some(media_type::SKILL);
        if is_written_form
            && !matches!(layers, [only] if only.media_type == media_type::SKILL_CONTENT)
        {
            let text = format!(
                "`{repo}` is a skill, but does not have one layer of the type `{}`",
                media_type::SKILL_CONTENT
            );
            return Err(Error::new(text).hint("tell whoever published it").into());
        }
        let sizes = layers.iter().map(|layer| layer.size);
        let total = sizes.fold(0, u64::saturating_add);
        if layers.len() > LAYERS || total > limits::DOWNLOAD {
            let most = limits::DOWNLOAD;
            let text = format!("`{repo}` has more than {LAYERS} layers or {most} bytes");
            return Err(Failure::new(Class::TooLarge, text));
        }
        let of_repo = |error: Error| error.context(format!("`{repo}`"));
        let mut all = Layers::default();
        for layer in layers {
            if layer.media_type != media_type::EMPTY {
                check(layer).map_err(of_repo)?;
                let bytes = self.blob(repo, layer)?;
                unpack(&mut all, layer, &bytes).map_err(of_repo)?;
            }
        }
        let memory = all.memory.unwrapped();
        let is_whiteout = |path: &str| tree::base(path).starts_with(WHITEOUT);
        if memory.tree.iter().any(|(path, _)| is_whiteout(path)) {
            let text = "a layer removes files of another";
            let error = Error::new(text).hint("ask its author for an image built from scratch");
            return Err(of_repo(error).into());
        }
        Ok(memory)
    }
}

/// Refuses a layer before it is fetched.
fn check(layer: &Descriptor) -> Result<()> {
    let kind = layer.media_type.as_str();
    if has_any(kind, "foreign|nondistributable") || !layer.urls.is_empty() {
        let text = "a layer is somewhere else than in the registry";
        return Err(Error::new(text).hint("ask its author for one without foreign layers"));
    }
    let is_tar = kind.contains("tar") && !kind.contains("zstd");
    if is_tar || layer.said(annotation::TITLE).is_some() {
        return Ok(());
    }
    let text = format!(
        "a layer has the type `{}`, which is not known",
        one_line(kind)
    );
    Err(Error::new(text).hint("`tar` and `tar+gzip` can be read, and files with a title"))
}

fn unpack(all: &mut Layers, layer: &Descriptor, bytes: &[u8]) -> Result<()> {
    match layer.said(annotation::TITLE) {
        // The usual type of a file that `oras push` sends is that of a tar.
        Some(title) if !layer.media_type.contains("tar") || !is_packed(bytes) => {
            all.add_file(title, bytes)
        }
        _ => all.add(bytes),
    }
}
