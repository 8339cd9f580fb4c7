#compdef agent-skills
# zsh completion for agent-skills: a file _agent-skills in a directory of $fpath
_agent_skills() {
    local -a found
    local line
    for line in "${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && found+=("${line%%$'\t'*}:${line#*$'\t'}")
    done
    if (( $#found )); then
        _describe agent-skills found
    else
        _files
    fi
}
if [[ $funcstack[1] == _agent-skills ]]; then
    _agent_skills "$@"
else
    compdef _agent_skills agent-skills
fi
