use expect_test::expect;

use super::*;

/// A machine with npm but no python, and a definition of the user's whose program is on PATH.
fn machine() -> (tempfile::TempDir, Registry, Surroundings) {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path();
    let dirs = Dirs {
        config: base.join("config"),
        state: base.join("state"),
        data: base.join("data"),
        managed: base.join("managed"),
    };
    let bin = base.join("bin");
    let write = |path: &std::path::Path, text: &str| {
        crate::sys::files::create_private_dir(path.parent().unwrap()).unwrap();
        crate::sys::files::atomic_write(path, text.as_bytes()).unwrap();
    };
    for program in ["npm", "gopls"] {
        use std::os::unix::fs::PermissionsExt;
        write(&bin.join(program), "#!/bin/sh\n");
        std::fs::set_permissions(bin.join(program), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    write(
        &dirs.config.join("servers.d/go.toml"),
        "name = \"gopls\"\ncommand = \"gopls\"\nlanguages = [\"go\"]\n[install]\nhint = \"see go.dev\"\n",
    );
    let (registry, errors) = Registry::load(&dirs);
    assert_eq!(errors, []);
    let vars = [("PATH", bin.to_str().unwrap())].into_iter().collect();
    (temp, registry, Surroundings { dirs, vars, workspace: Vec::new() })
}

#[test]
fn what_is_here_and_what_it_takes() {
    let (temp, registry, around) = machine();
    let text = text(&rows(&registry, None, &around).unwrap());
    expect![[r#"
        NAME                                LANGUAGES                                                                     ROLE     SCOPE    SERVER
        local/gopls                         go                                                                            primary  user     found: BASE/bin/gopls
        builtin/pyright                     python                                                                        primary  builtin  not installed; run `langport install builtin/pyright`
        builtin/ruff                        python                                                                        linter   builtin  not installed; run `langport install builtin/ruff` (needs python3, which is not here)
        builtin/ty                          python                                                                        primary  builtin  not installed; run `langport install builtin/ty` (needs python3, which is not here)
        builtin/basedpyright                python                                                                        primary  builtin  not installed; run `langport install builtin/basedpyright`
        builtin/pyrefly                     python                                                                        primary  builtin  untrusted: this server executes code of the repository
        builtin/zuban                       python                                                                        primary  builtin  not installed; run `langport install builtin/zuban` (needs python3, which is not here)
        builtin/typescript7                 typescript,typescriptreact,javascript,javascriptreact                         primary  builtin  not installed; run `langport install builtin/typescript7`
        builtin/typescript-language-server  typescript,typescriptreact,javascript,javascriptreact                         primary  builtin  not installed; run `langport install builtin/typescript-language-server`
        builtin/deno                        typescript,typescriptreact,javascript,javascriptreact                         primary  builtin  not installed; run `langport install builtin/deno` (needs python3, which is not here)
        builtin/biome                       javascript,javascriptreact,typescript,typescriptreact,json,jsonc,css,graphql  linter   builtin  not installed; run `langport install builtin/biome`
        builtin/oxlint                      javascript,javascriptreact,typescript,typescriptreact,vue,svelte,astro        linter   builtin  untrusted: this server executes code of the repository
        builtin/eslint                      javascript,javascriptreact,typescript,typescriptreact,vue,svelte,astro        linter   builtin  untrusted: this server executes code of the repository
        builtin/svelte                      svelte                                                                        primary  builtin  not installed; run `langport install builtin/svelte`
        builtin/json                        json,jsonc                                                                    primary  builtin  not installed; run `langport install builtin/json`
        builtin/css                         css,scss,less                                                                 primary  builtin  not installed; run `langport install builtin/css`
        builtin/html                        html                                                                          primary  builtin  not installed; run `langport install builtin/html`
        builtin/yaml                        yaml                                                                          primary  builtin  not installed; run `langport install builtin/yaml`
        builtin/dockerfile                  dockerfile                                                                    primary  builtin  not installed; run `langport install builtin/dockerfile`
        builtin/compose                     dockercompose                                                                 primary  builtin  not installed; run `langport install builtin/compose`
        builtin/clangd                      c,cpp,objective-c,objective-cpp,cuda-cpp                                      primary  builtin  not installed; run `langport install builtin/clangd` (needs python3, which is not here)
        builtin/gopls                       go,go.mod,go.work,gotmpl                                                      primary  builtin  found: BASE/bin/gopls
        builtin/rust-analyzer               rust                                                                          primary  builtin  not installed; its definition says: rustup component add rust-analyzer
        builtin/bash                        shellscript                                                                   primary  builtin  not installed; run `langport install builtin/bash` (needs python3, which is not here)
        builtin/fortls                      fortran                                                                       primary  builtin  not installed; run `langport install builtin/fortls` (needs python3, which is not here)
        builtin/tombi                       toml                                                                          primary  builtin  not installed; run `langport install builtin/tombi` (needs python3, which is not here)
        builtin/rumdl                       markdown                                                                      primary  builtin  not installed; run `langport install builtin/rumdl` (needs python3, which is not here)
        builtin/just                        just                                                                          primary  builtin  not installed; run `langport install builtin/just` (needs python3, which is not here)
        builtin/sqruff                      sql                                                                           primary  builtin  not installed; run `langport install builtin/sqruff` (needs python3, which is not here)
    "#]]
    .assert_eq(&text.replace(temp.path().to_str().unwrap(), "BASE"));
}

#[test]
fn one_language_as_json() {
    let (temp, registry, around) = machine();
    let rows = rows(&registry, Some("go"), &around).unwrap();
    expect![[r#"
        {
          "definitions": [
            {
              "advice": "see go.dev",
              "description": "",
              "group": null,
              "install": null,
              "languages": [
                "go"
              ],
              "name": "local/gopls",
              "needs": null,
              "program": "BASE/bin/gopls",
              "role": "primary",
              "scope": "user",
              "source": "BASE/config/servers.d/go.toml",
              "state": "found"
            },
            {
              "advice": null,
              "description": "Language server for Go",
              "group": null,
              "install": "langport install builtin/gopls",
              "languages": [
                "go",
                "go.mod",
                "go.work",
                "gotmpl"
              ],
              "name": "builtin/gopls",
              "needs": {
                "found": null,
                "program": "go"
              },
              "program": "BASE/bin/gopls",
              "role": "primary",
              "scope": "builtin",
              "source": "builtin (servers.d/gopls.toml)",
              "state": "found"
            }
          ],
          "left_out": []
        }
    "#]]
    .assert_eq(&json(&rows, &[]).unwrap().replace(temp.path().to_str().unwrap(), "BASE"));
}

#[test]
fn a_language_that_nobody_serves_names_the_nearest() {
    let (_temp, registry, around) = machine();
    expect!["no definition serves the language `pyton`: did you mean `python`?"]
        .assert_eq(&rows(&registry, Some("pyton"), &around).unwrap_err().to_string());
}
