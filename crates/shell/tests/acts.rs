//! What commands do that lasts or goes out, and what does neither.

use shell::{Act, Done, read};

fn acts(text: &str) -> Vec<Act> {
    let mut found: Vec<Act> = read(text).acts.iter().map(|it| it.act).collect();
    found.dedup();
    found
}

#[track_caller]
fn are(act: Act, texts: &[&str]) {
    for text in texts {
        assert!(acts(text).contains(&act), "{text}: {:?}", acts(text));
    }
}

#[track_caller]
fn are_none(texts: &[&str]) {
    for text in texts {
        assert_eq!(acts(text), [], "{text}");
    }
}

#[test]
fn what_is_published_merged_or_told() {
    are(
        Act::Publish,
        &[
            "npm publish --access public",
            "cargo publish --allow-dirty",
            "gh release create v1",
            "gh repo edit --visibility public",
            "gh repo edit --visibility=public",
            "gh repo fork a/b",
            "kubectl -n prod apply -f x.yaml",
            "kubectl apply --dry-run=none -f x.yaml",
        ],
    );
    are(Act::Merge, &["gh pr merge --admin --squash", "gh pr review 3 -a"]);
    are(
        Act::Message,
        &[
            "gh pr create --title x",
            "gh api graphql -f query='mutation { x }'",
            "gh api repos/a/b/issues -f title=x",
            "gh api --method=PATCH repos/a/b",
        ],
    );
    are(Act::Push, &["git push review HEAD", "git -C push push review", "git push --repo=review"]);
}

#[test]
fn what_holds_all_versions_of_the_work_is_lost_for_good() {
    are(
        Act::Erase,
        &[
            "rm -rf .git",
            "rm -rf src .git/",
            "rm -r ./.git/objects",
            "rm -rf ../other/.hg",
            "cd lib && rm -rf ../.git",
            "find .git -delete",
            "unlink .git/HEAD",
            "rm -rf .GIT/*",
            "rm -rf .git/*",
            "rm -rf .gi?",
            "rm -rf .g*",
            "rm -rf .git/o*",
            "rm -rf .*",
            "rm -rf .git/modules",
            "rm -rf .hg/store",
            "rm .svn/wc.db",
            "rm -rf .svn/pristine",
            "rm -rf .jj/repo",
            "find . -path './.git/*' -delete",
            "find . -ipath '*/.GIT/*' -type f -delete",
            "find . -name .git -exec rm -rf {} +",
            "find . -type d -name .git -prune -exec rm -rf {} +",
            "find . \\( -name .git -o -name .hg \\) -exec rm -rf {} +",
        ],
    );
    are_none(&[
        "rm -rf src",
        "rm .git/index.lock .git/refs/heads/main.lock",
        "rm -rf .git/rebase-merge",
        "rm .gitignore",
        "rm -f .git/*.lock .git/refs/heads/*.lock",
        "rm -rf * .cache/* .gradle* .gi",
        "rm .hg/bisect.state .svn/tmp/x .jj/working_copy/x",
        "find . -name '*.orig' -delete",
        "find . -not -path './.git/*' -name '*.orig' -delete",
        "find . ! -path '*/.git/*' -type f -exec rm {} +",
        "find . -path ./.git -prune -o -name '*.tmp' -delete",
        "find . -name .git -prune -o -name '*.tmp' -exec rm {} +",
        "find . -name .git -exec ls {} +",
    ]);
}

#[test]
fn what_is_brought_in() {
    are(
        Act::Depend,
        &[
            "npm install --save left-pad@1",
            "python3 -m pip install requests",
            "go get example.com/x@v1",
            "npx -y @a/b --silent",
            "npx left-pad@1.2.3",
            "npx @a/b@2 --silent",
            "npm create vite@latest my-app",
            "npm init playwright",
            "uv run --with requests x.py",
            "go run example.com/tool@latest",
            "pacman -S vim",
            "pacman -Syu --noconfirm vim",
            "nix-env -iA nixpkgs.vim",
        ],
    );
    let named = |text: &str| -> Vec<String> {
        read(text).acts.into_iter().filter(|it| it.act == Act::Depend).map(|it| it.named).collect()
    };
    assert_eq!(named("npm install a b"), ["a", "b"]);
    assert_eq!(named("cargo add serde --features derive"), ["serde"]);
    assert_eq!(named("uvx ruff check src"), ["ruff"]);
    assert_eq!(named("pip install -r https://r.example/all.txt"), ["https://r.example/all.txt"]);
    assert_eq!(named("uvx --from a tool"), ["tool", "a"]);
    assert_eq!(named("npx -p github:a/b c"), ["github:a/b"]);
    // What stands behind the program is not the runner's.
    assert_eq!(named("npx tsc -p tsconfig.json"), [""; 0]);
    let sources: Vec<String> = read("pip install --index-url https://r.example/ x")
        .acts
        .into_iter()
        .filter(|it| it.act == Act::Source)
        .map(|it| it.named)
        .collect();
    assert_eq!(sources, ["https://r.example/"]);
    are(
        Act::Source,
        &[
            "npm config set registry https://r.example/",
            "npm config set @a:registry https://r.example/",
            "pip install --index-url=https://r.example/ x",
            "pip install -i https://r.example/ x",
            "pip install --index https://r.example/ x",
            "PIP_INDEX_URL=https://r.example/ pip install x",
            "export PIP_EXTRA_INDEX_URL=https://r.example/",
            "env UV_INDEX_URL=https://r.example/ uv sync",
            "go env -w GOPROXY=https://r.example/",
            "git config remote.origin.url https://r.example/",
            "git config set remote.origin.url https://r.example/",
            "git config --global url.https://r.example/.insteadOf https://a.example/",
        ],
    );
    are(
        Act::Extend,
        &[
            "claude mcp add --scope user helper -- npx x",
            "cursor --install-extension a.b",
            "code --install-extension=a.b",
            "git config core.hooksPath .hooks",
        ],
    );
}

#[test]
fn what_is_switched_off_or_given() {
    are(
        Act::Weaken,
        &[
            "git config --global http.sslVerify false",
            "npm config set strict-ssl false",
            "npm config set strict-ssl=false",
            "git commit -qam x --no-verify",
            "git commit -anm x",
            "git commit --no-ver -m x",
            "git -c a.b=c commit -n -m x",
        ],
    );
    are(Act::Grant, &["gh secret set X", "gh -R a/b secret set X"]);
}

#[test]
fn what_nothing_brings_back() {
    are(
        Act::Erase,
        &[
            "git push --force",
            "git push -qf",
            "git push origin :old",
            "git push origin +main",
            "git reset --hard HEAD~3",
            "git reset -q --har",
            "git clean -fdx",
            "git clean -d --force",
            "git checkout -- .",
            "git checkout -f main",
            "git checkout -qf main",
            "git switch --discard-changes main",
            "git switch -f main",
            "git restore .",
            "git restore --staged --worktree .",
            "git stash clear",
            "git branch -D x",
            "git branch -df x",
            "git branch --delete --force x",
            "psql -c 'DELETE FROM users'",
            "echo 'DROP TABLE users' | psql",
            "psql <<< 'select 1; delete from users;'",
            "helm uninstall web",
            "gh api -X DELETE repos/a/b",
            "gh api -XDELETE repos/a/b",
            "docker system prune --volumes -f",
            "docker compose -f x.yml down -v",
        ],
    );
}

#[test]
fn work_is_no_act() {
    are_none(&[
        "git push",
        "git push -u origin feature",
        "git push -o ci.skip origin feature",
        "git status",
        "git reset HEAD~1",
        "git checkout -- src/a.rs",
        "git checkout -b x",
        "git checkout -bfix",
        "git stash",
        "git restore --staged .",
        "git restore -S .",
        "git rm -r --cached x",
        "git commit -m x",
        "git commit -mn",
        "git commit -m -n",
        "git config --get user.name",
        "git config --get remote.origin.url",
        "git config --list",
        "git config --get core.hooksPath x",
        "git config get remote.origin.url",
        "npm ci",
        "npm install",
        "npm init -y",
        "npm run build",
        "npm cache clean --force",
        "npm config get registry",
        "pip install -r requirements.txt",
        "pip install -e .",
        "pip install --target build -r requirements.txt",
        "cargo build",
        "go test ./...",
        "go mod tidy",
        "go run ./cmd/x",
        "go env GOPROXY",
        "npx tsc --noEmit",
        "uv run pytest",
        "pacman -Ss vim",
        "gh pr view 12",
        "gh run view 1 --log",
        "gh api graphql -f query='query { viewer { login } }'",
        "gh api repos/a/b/pulls/1/comments",
        "psql -c 'DELETE FROM users WHERE id = 3'",
        "echo 'select 1' | psql",
        "docker system prune -f",
        "docker builder prune -f",
        "PIP_INDEX_URL= pip list",
    ]);
}

#[test]
fn a_dry_run_is_no_act() {
    are_none(&[
        "git push --dry-run --force",
        "git push -n review",
        "git clean -nfd",
        "git clean -fd --dry-run",
        "npm publish --dry-run",
        "cargo publish -n",
        "kubectl delete --dry-run=client pod x",
        "helm upgrade web . --dry-run",
        "make -n",
        "apt-get install -s vim",
        "aws s3 rm --recursive --dryrun s3://a",
    ]);
    // What it builds or starts is run all the same, or the option is another one's.
    are(Act::Depend, &["pip install --dry-run x", "npx -y a --dry-run"]);
    are(Act::Erase, &["git clean -f -- -n", "git reset --hard -n"]);
    are(Act::Weaken, &["git commit -n -m x"]);
}

#[test]
fn an_act_says_what_it_is_done_to() {
    let done = |act, command: &str, named: &str| Done {
        act,
        command: command.to_owned(),
        named: named.to_owned(),
    };
    assert_eq!(read("git push review").acts, [done(Act::Push, "git push", "review")]);
    // What only a run would show is shown as that.
    assert_eq!(read("git push $(cat r)").acts, [done(Act::Push, "git push", "$…")]);
    assert_eq!(
        read("PIP_INDEX_URL=https://r.example/ true").acts,
        [done(Act::Source, "PIP_INDEX_URL", "https://r.example/")]
    );
}
