//! Variables that a shell reads, sets or computes, from the manuals of bash (3.2 to 5.3), dash,
//! busybox ash and zsh. They include all integer variables, whose values are evaluated
//! (`RANDOM='a[$(cmd)]'` runs `cmd` in bash, `COLUMNS='path[$(cmd)]'` in zsh), and all that zsh
//! ties to another (`path` to `PATH`). Commands may not set them
//! (docs/spec/restriction.md#special-variables).

use skill_text::Names;

/// Names in bash, dash and busybox ash; most exist in zsh too.
const SHELLS: Names = Names::new(
    "_ ATTY CDPATH CHILD_MAX COLUMNS COMPREPLY COPROC DIRSTACK EDITOR EMACS ENV EUID EXECIGNORE \
     FCEDIT FIGNORE FPATH FUNCNAME FUNCNEST GLOBIGNORE GLOBSORT GROUPS HOME HOSTFILE HOSTNAME \
     HOSTTYPE IFS IGNOREEOF INPUTRC INSIDE_EMACS LANG LANGUAGE LINENO LINES LOGNAME MACHTYPE MAIL \
     MAILCHECK MAILPATH MAPFILE NLSPATH OLDPWD OPTARG OPTERR OPTIND OSTYPE PATH PIPESTATUS \
     POSIXLY_CORRECT POSIX_PEDANTIC PPID PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS2 PS3 PS4 PWD \
     RANDOM REPLY SECONDS SHELL SHELLOPTS SHLVL SRANDOM TERM TERMCAP TEXTDOMAIN TEXTDOMAINDIR \
     TIMEFORMAT TMOUT TMPDIR TZ UID USER VISUAL auto_resume histchars noclobber notify \
     no_exit_on_failed_exec allow_null_glob_expansion cdable_vars command_oriented_history \
     glob_dot_filenames hostname_completion_file nolinks history_control",
);

/// Names in zsh and its modules.
const ZSH: Names = Names::new(
    "ARGC BAUD BUFFER BUFFERLINES CONTEXT CORRECT_IGNORE CORRECT_IGNORE_FILE CPUTYPE CURRENT \
     CURSOR CUTBUFFER DIRSTACKSIZE EGID ERRNO GID HOST IPREFIX ISEARCHMATCH_ACTIVE \
     ISEARCHMATCH_END ISEARCHMATCH_START ISUFFIX KEYBOARD_HACK KEYMAP KEYS KEYS_QUEUED_COUNT \
     KEYTIMEOUT LASTABORTEDSEARCH LASTSEARCH LASTWIDGET LBUFFER LISTMAX LOGCHECK MANPATH MARK \
     MATCH MBEGIN MEND MODULE_PATH NULLCMD NUMERIC PENDING POSTDISPLAY POSTEDIT PREBUFFER \
     PREDISPLAY PREFIX PROMPT PROMPT2 PROMPT3 PROMPT4 PROMPT_EOL_MARK PSVAR QIPREFIX QISUFFIX \
     RBUFFER READNULLCMD REGION_ACTIVE REPORTMEMORY REPORTTIME RPROMPT RPROMPT2 RPS1 RPS2 \
     SAVEHIST SPROMPT STTY SUFFIX SUFFIX_ACTIVE TERMINFO TERMINFO_DIRS TIMEFMT TMPPREFIX \
     TMPSUFFIX TRY_BLOCK_ERROR TRY_BLOCK_INTERRUPT TTY TTYIDLE UNDO_CHANGE_NO UNDO_LIMIT_NO \
     USERNAME VENDOR WATCH WATCHFMT WIDGET WIDGETFUNC WIDGETSTYLE WORDCHARS YANK_ACTIVE YANK_END \
     YANK_START ZBEEP ZDOTDIR aliases argv builtins cdpath commands compstate dirstack epochtime \
     errnos fignore fpath funcfiletrace funcsourcetrace funcstack functions functions_source \
     functrace galiases history historywords jobdirs jobstates jobtexts keymaps killring langinfo \
     mailpath manpath mapfile match mbegin mend module_path modules nameddirs options parameters \
     patchars path pipestatus prompt psvar region_highlight registers reply reswords saliases \
     signals status suffix_aliases sysparams termcap terminfo userdirs usergroups watch widgets \
     words key RPROMPT_INDENT",
);

/// Name prefixes: every new shell version adds more of these.
const FAMILIES: Names = Names::new(
    "BASH BB_ CHIBI COMP_ EPOCH HIST LC_ READLINE_ TCP_ ZFTP_ ZLE_ ZSH dis_ zcurses_ zle_ zsh_",
);

/// Whether a shell gives this variable a special meaning.
pub fn is_special(name: &str) -> bool {
    SHELLS.has(name) || ZSH.has(name) || FAMILIES.has_beginning_of(name)
}

#[cfg(test)]
#[rustfmt::skip]
mod tests {
    use super::*;

    #[test]
    fn what_shells_compute_tie_or_look_at_is_special() {
        for name in [
            "RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "SECONDS", "SHLVL", "COLUMNS", "LINES", "UID", "GID", "EGID", "EUID",
            "ERRNO", "FUNCNEST", "HISTSIZE", "KEYTIMEOUT", "LISTMAX", "MAILCHECK", "SAVEHIST", "ZLE_RPROMPT_INDENT", "PATH",
            "path", "cdpath", "fpath", "module_path", "argv", "status", "prompt", "manpath", "_", "IFS", "PS4", "BASH_ENV",
            "PROMPT_COMMAND", "TIMEFORMAT", "STTY", "NULLCMD", "READNULLCMD", "CHIBI_TOOL_ARGS",
        ] {
            assert!(is_special(name), "{name}");
        }
        for name in [
            "VERSION", "COUNT", "BRANCH", "URL", "OUT", "F", "STATUS", "NAME", "f", "x1",
        ] {
            assert!(!is_special(name), "{name}");
        }
    }
}
