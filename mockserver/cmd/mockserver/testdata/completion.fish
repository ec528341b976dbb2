# fish completion of mockserver
complete -c mockserver -f
complete -c mockserver -n __fish_use_subcommand -a run -d 'run it: at once'
complete -c mockserver -n __fish_use_subcommand -a paint -d 'the painter\'s word'
complete -c mockserver -n __fish_use_subcommand -a help -d 'help'
complete -c mockserver -n '__fish_seen_subcommand_from run' -o file -r -F -d 'read a FILE, such as {"addr":"127.0.0.1:0"}'
complete -c mockserver -n '__fish_seen_subcommand_from run' -o json -d 'print JSON'
complete -c mockserver -n '__fish_seen_subcommand_from run' -o kind -x -a 'red blue' -d 'the KIND of the user\'s [own]'
complete -c mockserver -n '__fish_seen_subcommand_from run' -o wait -x -d 'wait this TIME'
complete -c mockserver -n '__fish_seen_subcommand_from paint' -a 'red blue'
complete -c mockserver -n '__fish_seen_subcommand_from help' -a 'run paint help'
