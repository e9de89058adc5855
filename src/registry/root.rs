//! Which folder is the root of a file's project.

use std::path::{Path, PathBuf};

use super::{
    definition::{Root, RootMode},
    marker::Marker,
};

/// The root of a file's project, never above `ceiling`, the workspace folder that the file lies in.
///
/// `None`: the definition does not serve this file: no marker of a strict definition, an excluding marker, or a file
/// outside the ceiling.
pub fn root_of(file: &Path, def: &Root, ceiling: &Path) -> Option<PathBuf> {
    let start = file.parent()?;
    if !start.starts_with(ceiling) {
        return None;
    }
    let start = outside(start, &def.dependencies, ceiling);
    let found = marked(start, def, ceiling);
    let root = match (found, def.mode) {
        (Some(root), _) => root,
        (None, RootMode::Strict) => return None,
        (None, RootMode::Nearest | RootMode::Outermost | RootMode::Workspace) => ceiling.to_owned(),
    };
    let excluding = parse(&def.exclude);
    // A marker above the root speaks of somebody else's project: the nearer one wins.
    let excluded = folders(start, &root).any(|dir| excluding.iter().any(|marker| marker.is_in(dir)));
    (!excluded).then_some(root)
}

/// The folder that a file marks by its name, where it does: what marks the root of a project tells of it, too. A mark of
/// version control tells nothing.
pub fn marked_by(file: &Path, def: &Root) -> Option<PathBuf> {
    def.markers.iter().flat_map(|group| parse(group)).find_map(|marker| {
        let name = match &marker {
            Marker::Name(name) => *name,
            Marker::Key { file, .. } => *file,
            Marker::Glob(glob) => {
                return file.file_name().filter(|name| glob.is_match(name)).and(file.parent()).map(Path::to_owned);
            }
        };
        (name != ".git" && file.ends_with(name))
            .then(|| file.ancestors().nth(Path::new(name).components().count()))?
            .map(Path::to_owned)
    })
}

/// The folder itself, or the one that holds the outermost folder of dependencies that it lies in.
fn outside<'a>(start: &'a Path, dependencies: &[String], ceiling: &'a Path) -> &'a Path {
    let named = |dir: &Path| dir.file_name().is_some_and(|name| dependencies.iter().any(|own| name == own.as_str()));
    // What a person has opened is no dependency, whatever it lies in.
    let inside = folders(start, ceiling).filter(|dir| *dir != ceiling && named(dir)).last();
    inside.and_then(Path::parent).unwrap_or(start)
}

fn marked(start: &Path, def: &Root, ceiling: &Path) -> Option<PathBuf> {
    if def.mode == RootMode::Workspace {
        return None;
    }
    def.markers.iter().find_map(|group| {
        let markers = parse(group);
        let mut hits = folders(start, ceiling).filter(|dir| markers.iter().any(|marker| marker.is_in(dir)));
        let hit = if def.mode == RootMode::Outermost { hits.last() } else { hits.next() };
        hit.map(Path::to_owned)
    })
}

/// From a folder up to another, both included.
fn folders<'a>(start: &'a Path, top: &'a Path) -> impl Iterator<Item = &'a Path> {
    start.ancestors().take_while(move |dir| dir.starts_with(top))
}

/// Markers were checked when the definition was read.
fn parse(markers: &[String]) -> Vec<Marker<'_>> {
    markers.iter().filter_map(|marker| Marker::parse(marker).ok()).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own folders")]
mod tests {
    use std::fs;

    use super::*;

    /// Makes the files of a tree (`name` or `name=content`), asks for the root of `file` below `repo`, and shows it relative
    /// to the temporary folder.
    fn check(tree: &[&str], root: &Root, file: &str, expected: Option<&str>) {
        let temp = tempfile::tempdir().unwrap();
        for line in tree.iter().chain(&[file]) {
            let (name, content) = line.split_once('=').unwrap_or((line, ""));
            let path = temp.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let found = root_of(&temp.path().join(file), root, &temp.path().join("repo"));
        let shown = found.as_ref().map(|found| found.strip_prefix(temp.path()).unwrap().to_str().unwrap());
        assert_eq!(shown, expected, "{file} in {tree:?}");
    }

    fn root(groups: &[&[&str]], mode: RootMode, exclude: &[&str]) -> Root {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Root {
            markers: groups.iter().map(|group| owned(group)).collect(),
            mode,
            exclude: owned(exclude),
            dependencies: Vec::new(),
            share: false,
        }
    }

    #[test]
    fn a_dependency_is_no_root() {
        let web =
            Root { dependencies: vec!["node_modules".into()], ..root(&[&["package.json"]], RootMode::Nearest, &[]) };
        let tree = ["repo/web/package.json", "repo/web/node_modules/a/package.json"];
        check(&tree, &web, "repo/web/node_modules/a/x.d.ts", Some("repo/web"));
        check(&tree, &web, "repo/web/node_modules/a/node_modules/b/x.d.ts", Some("repo/web"));
        check(&["repo/node_modules/a/package.json"], &web, "repo/node_modules/a/x.d.ts", Some("repo"));
        check(&tree, &Root { mode: RootMode::Strict, ..web.clone() }, "repo/web/node_modules/a/x.js", Some("repo/web"));
        // The folder that was opened may be a dependency of something else.
        let temp = tempfile::tempdir().unwrap();
        let opened = temp.path().join("node_modules/a");
        fs::create_dir_all(opened.join("lib")).unwrap();
        fs::write(opened.join("package.json"), "").unwrap();
        assert_eq!(root_of(&opened.join("lib/x.ts"), &web, &opened), Some(opened));
    }

    #[test]
    fn d1_7_groups_go_before_nearness_and_nearness_inside_a_group() {
        let python =
            root(&[&["pyrightconfig.json"], &["pyproject.toml", "setup.py"], &[".git"]], RootMode::Nearest, &[]);
        let tree = ["repo/.git", "repo/pyproject.toml", "repo/api/setup.py"];
        check(&tree, &python, "repo/api/pkg/a.py", Some("repo/api"));
        check(&tree, &python, "repo/web/a.py", Some("repo"));
        check(&["repo/pyrightconfig.json", "repo/api/setup.py"], &python, "repo/api/a.py", Some("repo"));
        check(&["pyproject.toml"], &python, "repo/api/a.py", Some("repo"));
        check(&["repo/api/.git"], &python, "repo/api/b/a.py", Some("repo/api"));
    }

    #[test]
    fn d2_13_two_modules_have_two_roots() {
        // A single-marker first group must not swallow the second one.
        let go = root(&[&["go.work"], &["go.mod"]], RootMode::Nearest, &[]);
        let tree = ["repo/one/go.mod", "repo/two/go.mod"];
        check(&tree, &go, "repo/one/a.go", Some("repo/one"));
        check(&tree, &go, "repo/two/b/a.go", Some("repo/two"));
        check(&["repo/go.work", "repo/one/go.mod"], &go, "repo/one/a.go", Some("repo"));
    }

    #[test]
    fn d1_7_strict_has_no_fallback_and_workspace_no_markers() {
        check(&[], &root(&[&["a.toml"]], RootMode::Strict, &[]), "repo/x/a.py", None);
        check(&["repo/x/a.toml"], &root(&[&["a.toml"]], RootMode::Strict, &[]), "repo/x/a.py", Some("repo/x"));
        check(&["repo/x/a.toml"], &root(&[&["a.toml"]], RootMode::Workspace, &[]), "repo/x/a.py", Some("repo"));
        check(&["repo/x/m", "repo/x/y/m"], &root(&[&["m"]], RootMode::Outermost, &[]), "repo/x/y/z/a", Some("repo/x"));
    }

    #[test]
    fn d1_7_an_excluding_marker_counts_at_or_below_the_root() {
        let node = root(&[&["package.json"]], RootMode::Nearest, &["deno.json"]);
        check(&["repo/package.json", "repo/d/deno.json"], &node, "repo/d/a.ts", None);
        check(&["repo/deno.json", "repo/package.json"], &node, "repo/a.ts", None);
        check(&["repo/deno.json", "repo/web/package.json"], &node, "repo/web/a.ts", Some("repo/web"));
    }

    #[test]
    fn d1_8_markers_may_be_globs_and_keys() {
        let dotnet = root(&[&["*.sln", "*.csproj"]], RootMode::Strict, &[]);
        check(&["repo/app/App.csproj"], &dotnet, "repo/app/x/a.cs", Some("repo/app"));
        check(&["repo/app/csproj"], &dotnet, "repo/app/a.cs", None);

        let cargo = root(&[&["Cargo.toml#workspace"], &["Cargo.toml"]], RootMode::Nearest, &[]);
        let tree = ["repo/Cargo.toml=[workspace]\nmembers = []", "repo/m/Cargo.toml=[package]"];
        check(&tree, &cargo, "repo/m/src/lib.rs", Some("repo"));
        check(&["repo/m/Cargo.toml=[package]"], &cargo, "repo/m/src/lib.rs", Some("repo/m"));

        // D1.8: not beyond the worktree, whatever lies above it.
        check(&["Cargo.toml=[workspace]", "repo/m/Cargo.toml=[package]"], &cargo, "repo/m/src/lib.rs", Some("repo/m"));
        // A project of its own inside another one.
        let own = ["repo/Cargo.toml=[workspace]", "repo/m/Cargo.toml=[package]\n[workspace]"];
        check(&own, &cargo, "repo/m/src/lib.rs", Some("repo/m"));

        let ruff = root(&[&["pyproject.toml#tool.ruff"]], RootMode::Strict, &[]);
        check(&["repo/pyproject.toml=[tool.ruff]\n"], &ruff, "repo/a.py", Some("repo"));
        check(&["repo/pyproject.toml=[tool.ruff"], &ruff, "repo/a.py", None);

        let eslint = root(&[&["package.json#eslint"]], RootMode::Strict, &[]);
        check(&["repo/package.json={\"devDependencies\":{\"eslint\":\"9\"}}"], &eslint, "repo/a.js", Some("repo"));
        check(&["repo/package.json={\"eslint\":{}}"], &eslint, "repo/a.js", Some("repo"));
        check(&["repo/package.json={}"], &eslint, "repo/a.js", None);
    }

    #[test]
    fn nothing_outside_the_ceiling_is_served() {
        check(&[], &Root::default(), "repository/a.py", None);
    }
}
