# what: git in the cage works, and cannot be told to run something outside
# on: namespaces
# expect: refused
cd "$WS" || exit 1
git -c safe.directory='*' status --short >/dev/null 2>&1 || echo "git does not work: $(git -c safe.directory='*' status 2>&1)"
for key in core.fsmonitor core.hooksPath core.sshCommand alias.status filter.x.clean; do
    if git -c safe.directory='*' config "$key" "touch $WS/ran" 2>/dev/null; then
        echo "ESCAPED $key"
    else
        echo "held $key: refused"
    fi
done
