//! Environment variables that steer programs.

/// Names that decide what an interpreter, a loader or a common tool executes, or whom it trusts
/// (docs/spec/restriction.md#always-allowed). `*` at either end is a wildcard.
#[rustfmt::skip]
const STEERING: [&str; 30] = [
    // Shells, and general search paths for programs and files.
    "PATH HOME SHELL IFS ENV CDPATH FPATH PWD OLDPWD ZDOTDIR BASH* SHELLOPTS PROMPT_COMMAND PS1 PS2 PS4",
    "XDG_* TERMINFO TERMINFO_DIRS TERMCAP",
    // The loader and the C library.
    "LD_* DYLD_* GLIBC_* GCONV_PATH GETCONF_DIR LOCPATH NLSPATH TZDIR MALLOC_*",
    "HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_*",
    // Proxies and certificates: where connections go, and who vouches for the peer.
    "*_PROXY OPENSSL_* SSL_CERT_* SSLKEYLOGFILE *_CA_BUNDLE CURL_* WGET* KRB5* GNUPGHOME",
    // Programs that other programs start.
    "EDITOR VISUAL PAGER MANPAGER LESS* BROWSER FCEDIT *_EDITOR *_PAGER *_COMMAND *_EXE *_BINARY *_BIN",
    "CHROME_PATH GRAPHVIZ_DOT PYPANDOC_PANDOC SE_* FZF_* RIPGREP_CONFIG_PATH",
    "GIT_* SSH_* SUDO_* RSYNC_* CVS_RSH SVN_SSH HGRCPATH HGEDITOR TAR_OPTIONS PSQLRC PSQL_*",
    "VIMINIT EXINIT NVIM_* EMACSLOADPATH AWKPATH AWKLIBPATH",
    // Interpreters and their package managers.
    "PYTHON* VIRTUAL_ENV UV_* PIP_* PIPX_* PIPENV_* POETRY_* PDM_* CONDA_* PYTEST_* PYENV_* IPYTHONDIR",
    "NODE_* NPM_* BUN_* DENO_* TSX_* TS_NODE* COREPACK_* YARN_* PNPM_* NVM_* BABEL_* ELECTRON_*",
    "PUPPETEER_* PLAYWRIGHT_*",
    "PERL* RUBY* GEM_* BUNDLE_* RBENV_* PHP* COMPOSER_* LUA_* LUAROCKS_*",
    "R_* JULIA_* GUILE_* OCAMLRUNPARAM CAML_LD_LIBRARY_PATH TCLLIBPATH TCL_LIBRARY TK_LIBRARY",
    "ERL_* ELIXIR_* MIX_* HEX_* GHC*",
    "JAVA_* _JAVA_* JDK_* CLASSPATH MAVEN_* GRADLE_* SBT_OPTS JRUBY_*",
    "DOTNET_* CORECLR_* COR_* COMPLUS_* NUGET_* MSBUILD* PSMODULEPATH",
    "ASDF_* MISE_* VOLTA_* NIX_*",
    // Compilers and build tools.
    "CC CXX CPP LD AR AS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS",
    "COMPILER_PATH LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH GCC_* CCACHE_*",
    "MAKE MAKEFLAGS MAKEFILES MFLAGS GNUMAKEFLAGS CMAKE_* PKG_CONFIG*",
    "RUSTC* RUSTDOC* RUSTFLAGS RUSTUP_* CARGO_*",
    "GOFLAGS GOENV GOPATH GOROOT GOPROXY GOSUMDB GONOSUMDB GOINSECURE GOPRIVATE GOTOOLCHAIN CGO_*",
    // Plugins, and configuration that names commands.
    "GIO_* GTK_* QT_* GST_* MAGICK_* GS_LIB GS_OPTIONS TEXMF* TEXINPUTS",
    "DOCKER_* KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CLOUDSDK_*",
    "TF_CLI_* ANSIBLE_*",
    "ASAN_* LSAN_* MSAN_* TSAN_* UBSAN_*",
    "MPLBACKEND GDK_PIXBUF_* OCL_ICD_VENDORS VK_* URE_BOOTSTRAP HELM_* NUMBA_* JUPYTER_*",
    "LADSPA_PATH FREI0R_PATH *_DRIVERS_PATH",
    // Where credentials go, and where they are read.
    "*_ENDPOINT_URL *_BASE_URL AWS_ENDPOINT_* PGHOST PGHOSTADDR PGSERVICE* PGPASSFILE MYSQL_HOME NETRC GH_HOST GH_PATH GH_BROWSER \
     GH_CONFIG_DIR",
];

/// Whether setting this variable would turn the permission to run a script into one to run
/// anything.
pub fn steers(name: &str) -> bool {
    STEERING.iter().any(|line| matches_any(line, name))
}

/// Whether any of these patterns, separated by blanks, matches this name.
pub fn matches_any(patterns: &str, name: &str) -> bool {
    patterns.split(' ').any(|pattern| matches(pattern, name))
}

/// Whether a pattern matches this name, in upper or lower case. `*` at either end is a wildcard.
pub fn matches(pattern: &str, name: &str) -> bool {
    // Without a copy: a command may set thousands of variables.
    let name = name.as_bytes();
    let is = |there: &[u8], part: &str| there.eq_ignore_ascii_case(part.as_bytes());
    let within = |part: &str| part.is_empty() || name.windows(part.len()).any(|it| is(it, part));
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(rest), Some(_)) => within(rest.trim_end_matches('*')),
        (Some(end), None) => name.len() >= end.len() && is(&name[name.len() - end.len()..], end),
        (None, Some(start)) => name
            .get(..start.len())
            .is_some_and(|there| is(there, start)),
        (None, None) => is(name, pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_programs_is_known_in_any_case() {
        for bad in [
            "OPENSSL_CONF",
            "LUA_INIT",
            "DOTNET_STARTUP_HOOKS",
            "PHPRC",
            "PHP_INI_SCAN_DIR",
            "JULIA_LOAD_PATH",
            "RUSTC_WRAPPER",
            "CARGO_HOME",
            "MAKEFLAGS",
            "GOFLAGS",
            "CC",
            "CXX",
            "TAR_OPTIONS",
            "RSYNC_RSH",
            "PROMPT_COMMAND",
            "PS4",
            "MANPAGER",
            "BROWSER",
            "COREPACK_NPM_REGISTRY",
            "YARN_RC_FILENAME",
            "PNPM_HOME",
            "HTTPS_PROXY",
            "all_proxy",
            "SSL_CERT_FILE",
            "CURL_HOME",
            "WGETRC",
            "GEM_HOME",
            "BUNDLE_GEMFILE",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "CLASSPATH",
            "R_PROFILE",
            "TCLLIBPATH",
            "GCONV_PATH",
            "LOCPATH",
            "MALLOC_CHECK_",
            "GLIBC_TUNABLES",
            "REQUESTS_CA_BUNDLE",
            "LESSOPEN",
            "XDG_CONFIG_HOME",
            "IMAGEIO_FFMPEG_EXE",
            "FFMPEG_BINARY",
            "KUBE_EDITOR",
            "BAT_PAGER",
            "FZF_DEFAULT_COMMAND",
            "MPLBACKEND",
            "LIBVA_DRIVERS_PATH",
            "AWS_ENDPOINT_URL",
            "AWS_ENDPOINT_URL_S3",
            "GH_HOST",
            "NETRC",
        ] {
            assert!(steers(bad), "{bad}");
        }
        for good in [
            "GO111MODULE",
            "INPUT_PATH",
            "GH_TOKEN",
            "CCC",
            "PROXY",
            "FEATURE_FLAGS",
            "GOOGLE_CLOUD_PROJECT",
            "PS",
        ] {
            assert!(!steers(good), "{good}");
        }
    }
}
