use expect_test::expect;

use super::*;
use crate::{
    registry::{Scope, Source, resolve},
    sys::{dirs::Dirs, env::Env},
};

fn entry(more: &str) -> Entry {
    let text = format!("name = \"a/srv\"\ncommand = \"/bin/sh\"\nargs = [\"-x\"]\nlanguages = [\"python\"]\n{more}");
    Entry {
        def: toml::from_str(&text).unwrap(),
        name: "a/srv".parse().unwrap(),
        source: Source::Builtin("x"),
        scope: Scope::User,
    }
}

fn around(path: &str) -> Surroundings {
    let dirs = Dirs {
        config: "/home/me/.config/langport".into(),
        state: "/home/me/.local/state/langport".into(),
        data: "/home/me/.local/share/langport".into(),
        managed: "/etc/langport".into(),
    };
    let vars: Env = [("PATH", path), ("HOME", "/home/me"), ("CARGO_HOME", "/home/me/.cargo"), ("TMPDIR", "/var/tmp")]
        .into_iter()
        .collect();
    Surroundings { dirs, vars, workspace: vec!["/home/me/repo".into()] }
}

fn launch(entry: &Entry, all: Confinement, around: &Surroundings) -> Result<Launch, LaunchError> {
    confine(resolve(entry, Path::new("/home/me/repo/api"), around)?, entry, all, around)
}

/// A folder with a program named `bwrap`.
fn with_bwrap() -> (tempfile::TempDir, Surroundings) {
    let temp = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/bin/sh", temp.path().join("bwrap")).unwrap();
    let around = around(&format!("{}:/opt/node/bin:/home/me/.cargo/bin:/usr/bin", temp.path().display()));
    (temp, around)
}

#[test]
fn the_command_line() {
    let (temp, around) = with_bwrap();
    let launch = launch(&entry("sandbox = \"bwrap\""), Confinement::default(), &around).unwrap();
    assert_eq!(launch.program, temp.path().join("bwrap"));
    assert!(!launch.sees_langport && !launch.bounds.scratch);
    assert!(launch.env.contains(&("TMPDIR".to_owned(), "/tmp".to_owned())));
    let line = launch.args.join(" ").replace(temp.path().to_str().unwrap(), "TEMP").replace(" --", "\n--");
    expect![[r#"
        --unshare-all
        --die-with-parent
        --cap-drop ALL
        --proc /proc
        --remount-ro /proc
        --dev /dev
        --tmpfs /tmp
        --ro-bind-try /usr /usr
        --ro-bind-try /bin /bin
        --ro-bind-try /sbin /sbin
        --ro-bind-try /lib /lib
        --ro-bind-try /lib32 /lib32
        --ro-bind-try /lib64 /lib64
        --ro-bind-try /libx32 /libx32
        --ro-bind-try /nix/store /nix/store
        --ro-bind-try /gnu/store /gnu/store
        --ro-bind-try /etc/alternatives /etc/alternatives
        --ro-bind-try /etc/ca-certificates /etc/ca-certificates
        --ro-bind-try /etc/group /etc/group
        --ro-bind-try /etc/hosts /etc/hosts
        --ro-bind-try /etc/ld.so.cache /etc/ld.so.cache
        --ro-bind-try /etc/ld.so.conf /etc/ld.so.conf
        --ro-bind-try /etc/ld.so.conf.d /etc/ld.so.conf.d
        --ro-bind-try /etc/localtime /etc/localtime
        --ro-bind-try /etc/nsswitch.conf /etc/nsswitch.conf
        --ro-bind-try /etc/passwd /etc/passwd
        --ro-bind-try /etc/pki /etc/pki
        --ro-bind-try /etc/ssl /etc/ssl
        --ro-bind-try /etc/timezone /etc/timezone
        --tmpfs /home/me
        --ro-bind-try TEMP TEMP
        --ro-bind-try /opt/node /opt/node
        --ro-bind-try /home/me/.cargo/bin /home/me/.cargo/bin
        --ro-bind-try /home/me/.local/share/langport /home/me/.local/share/langport
        --ro-bind-try /home/me/.cargo/git /home/me/.cargo/git
        --ro-bind-try /home/me/.cargo/registry /home/me/.cargo/registry
        --ro-bind-try /home/me/.asdf/installs /home/me/.asdf/installs
        --ro-bind-try /home/me/.cache/deno /home/me/.cache/deno
        --ro-bind-try /home/me/.local/share/mise/installs /home/me/.local/share/mise/installs
        --ro-bind-try /home/me/.m2/repository /home/me/.m2/repository
        --ro-bind-try /home/me/.nvm/versions /home/me/.nvm/versions
        --ro-bind-try /home/me/.pyenv/versions /home/me/.pyenv/versions
        --ro-bind-try /home/me/.rustup /home/me/.rustup
        --ro-bind-try /home/me/.sdkman/candidates /home/me/.sdkman/candidates
        --ro-bind-try /home/me/.volta/tools /home/me/.volta/tools
        --ro-bind-try /home/me/go/pkg /home/me/go/pkg
        --ro-bind-try /home/me/sdk /home/me/sdk
        --ro-bind /home/me/repo /home/me/repo
        --ro-bind /home/me/repo/api /home/me/repo/api
        --chdir /home/me/repo/api
        -- /bin/sh -x"#]]
    .assert_eq(&line);
}

#[test]
fn what_the_definition_says_goes_before_the_setting() {
    let (_temp, around) = with_bwrap();
    let all = Confinement { sandbox: Sandbox::BwrapWrite, memory_mb: Some(500), nice: Some(5) };
    let shut_in = launch(&entry("nice = 3"), all, &around).unwrap();
    assert!(shut_in.args.windows(2).any(|pair| pair == ["--bind", "/home/me/repo"]));
    assert_eq!((shut_in.bounds.nice, shut_in.bounds.memory_mb), (Some(3), Some(500)));
    let free = launch(&entry("sandbox = \"none\"\nmemory_mb = 0"), all, &around).unwrap();
    assert_eq!((free.args, free.bounds.memory_mb), (vec!["-x".to_owned()], None));
}

#[test]
fn without_the_sandbox_it_does_not_start() {
    let around = around("/nowhere");
    let all = Confinement { sandbox: Sandbox::Bwrap, ..Confinement::default() };
    let error = launch(&entry(""), all, &around).unwrap_err().to_string();
    assert!(error.starts_with("sandbox: ") && error.contains("bwrap") && error.contains("bubblewrap"), "{error}");
    let (_temp, around) = with_bwrap();
    let tcp = entry("transport = \"tcp\"\naddress = \"127.0.0.1:9\"");
    let error = launch(&tcp, all, &around).unwrap_err().to_string();
    assert!(error.contains("stdio"), "{error}");
}
