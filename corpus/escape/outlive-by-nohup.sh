# what: background jobs end with the command
# expect: started
# limits: wall=60000
nohup sleep 30 >/dev/null 2>&1 &
setsid sleep 30 >/dev/null 2>&1 &
(trap '' HUP TERM INT; sleep 30) &
sleep 0.3
echo "held jobs: started"
