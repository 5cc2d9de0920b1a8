//! The reference of all commands, from the same definitions as `--help`.

use clap::{Command, CommandFactory as _};

use crate::{arguments::Arguments, failure::EXIT_CODES};

/// Options of every command, which are told once.
const EVERYWHERE: [&str; 7] = ["url", "api_key", "workspace", "data_dir", "output", "help", "version"];

/// The whole page.
#[must_use]
pub fn markdown() -> String {
    let mut root = Arguments::command().term_width(100).disable_help_subcommand(true);
    root.build();
    let mut page = String::from(
        "# Command line\n\n\
         Generated from the program by `tidegate reference`; a test compares the two.\n\n\
         Every command takes these options, before or after its own:\n",
    );
    page.push_str(&block(&options_of(&root, true)));
    page.push_str(&block(EXIT_CODES));
    page.push_str(
        "\nData goes to standard output, everything else to standard error. With `-o json` or `-o yaml` data is what \
         the API answers.\n",
    );
    for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
        section(command, "tidegate", &mut page);
    }
    page
}

fn section(command: &Command, parent: &str, page: &mut String) {
    let name = format!("{parent} {}", command.get_name());
    let visible = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    if command.get_subcommands().any(|command| visible(&command)) {
        for command in command.get_subcommands().filter(visible) {
            section(command, &name, page);
        }
        return;
    }
    page.push_str(&format!("\n## {name}\n"));
    if let Some(about) = command.get_about() {
        page.push_str(&format!("\n{about}.\n"));
    }
    let usage = command.clone().bin_name(&name).render_usage().to_string();
    page.push_str(&block(&format!("{usage}\n\n{}", options_of(command, false))));
    if let Some(more) = command.get_after_help() {
        page.push_str(&block(&more.to_string()));
    }
}

/// Arguments and options with their help; those of every command, or all others.
fn options_of(command: &Command, everywhere: bool) -> String {
    let mut lines = Vec::new();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        if argument.is_hide_set() || EVERYWHERE.contains(&id) != everywhere || id == "help" || id == "version" {
            // `version` is also an option of its own in some commands: those take a value.
            if !(id == "version" && !everywhere && argument.get_action().takes_values()) {
                continue;
            }
        }
        lines.push(format!("{argument}{}", short(argument)));
        if let Some(help) = argument.get_help() {
            lines.push(format!("        {help}"));
        }
        let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if !defaults.is_empty() && argument.get_action().takes_values() {
            lines.push(format!("        Default: {}", defaults.join(" ")));
        }
        let values: Vec<String> =
            argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        if !values.is_empty() && argument.get_action().takes_values() {
            lines.push(format!("        One of: {}", values.join(", ")));
        }
        if let Some(variable) = argument.get_env() {
            lines.push(format!("        Environment: {}", variable.to_string_lossy()));
        }
    }
    lines.join("\n")
}

fn short(argument: &clap::Arg) -> String {
    argument.get_short().map_or_else(String::new, |short| format!(" (-{short})"))
}

/// Text as an indented block.
fn block(text: &str) -> String {
    let lines =
        text.trim_end().lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") });
    format!("\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_defined() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_page_is_what_the_program_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/cli.md");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, markdown()).expect("the page can be written");
        }
        let page = std::fs::read_to_string(path).expect("the page is there");
        assert!(page == markdown(), "docs/reference/cli.md is not what the program says; UPDATE=1 writes it again");
    }
}
