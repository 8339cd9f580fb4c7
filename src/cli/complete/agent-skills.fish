# fish completion for agent-skills: a file agent-skills.fish in ~/.config/fish/completions
function __agent_skills
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    $words[1] __complete -- $words[2..-1] "$last" 2>/dev/null
end
complete -c agent-skills -n __fish_use_subcommand -f
complete -c agent-skills -a '(__agent_skills)'
