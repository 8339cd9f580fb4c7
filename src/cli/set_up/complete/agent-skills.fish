# fish completion for agent-skills: a file agent-skills.fish in ~/.config/fish/completions
function __agent_skills
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l found ($words[1] __complete -- $words[2..-1] "$last" 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path "$last"
    end
end
complete -c agent-skills -f -a '(__agent_skills)'
