//! Simple commands: words, assignments and redirections.

use super::*;

impl Parser<'_> {
    /// The redirections after a compound command.
    pub(in crate::command_line) fn streams(&mut self) -> Result<(), Unparsable> {
        let mut command = Command::default();
        loop {
            self.blank();
            match self.redirection()? {
                Some(redirection) => command.redirections.push(redirection),
                None => break,
            }
        }
        if !command.redirections.is_empty() {
            self.found(command)?;
        }
        Ok(())
    }

    pub(in crate::command_line) fn simple(&mut self) -> Result<(), Unparsable> {
        let mut command = Command::default();
        let place = self.out.len();
        loop {
            self.blank();
            if let Some(redirection) = self.redirection()? {
                command.redirections.push(redirection);
                continue;
            }
            let start = self.at;
            let Some(word) = self.word()? else { break };
            if self.raw() == Some(b'(') {
                // A name and brackets make a function, if nothing came before.
                let alone = command == Command::default() && word.is_literal();
                self.at += 1;
                self.blank();
                if !alone || !self.eat(")") {
                    return Err(self.fault("a bracket stands where it cannot"));
                }
                return self.of_function();
            }
            match assignment(&self.text[start..self.at], &word) {
                Some(assignment) if command.words.is_empty() => {
                    command.assignments.push(assignment);
                }
                _ => command.words.push(word),
            }
            self.blank();
            if self.raw() == Some(b'(') {
                let alone = command.words.len() == 1
                    && command.assignments.is_empty()
                    && command.redirections.is_empty();
                self.at += 1;
                self.blank();
                if !alone || !self.eat(")") {
                    return Err(self.fault("a bracket stands where it cannot"));
                }
                return self.of_function();
            }
        }
        if command == Command::default() {
            return Err(self.fault("a command is missing"));
        }
        self.found_at(place, command)
    }

    /// Variables that are set where no command stands.
    pub(in crate::command_line) fn sets(
        &mut self,
        assignments: Vec<Assignment>,
    ) -> Result<(), Unparsable> {
        if assignments.is_empty() {
            return Ok(());
        }
        self.found(Command {
            assignments,
            ..Command::default()
        })
    }

    /// Something is evaluated that may run commands, by the value of a variable.
    pub(in crate::command_line) fn evaluates(&mut self) -> Result<(), Unparsable> {
        self.found(Command::default())?;
        if let Some(last) = self.out.last_mut() {
            last.opaque = Some("the value of a variable may run a command");
        }
        Ok(())
    }

    pub(in crate::command_line) fn found(&mut self, command: Command) -> Result<(), Unparsable> {
        let place = self.out.len();
        self.found_at(place, command)
    }

    /// A command is known, and what it runs is looked into.
    pub(in crate::command_line) fn found_at(
        &mut self,
        place: usize,
        mut command: Command,
    ) -> Result<(), Unparsable> {
        self.budget.commands += 1;
        if self.budget.commands > MAX_COMMANDS {
            return Err(self.fault("there are too many commands"));
        }
        if command
            .words
            .first()
            .is_some_and(|word| word.kind != WordKind::Literal)
        {
            command.opaque = Some("which program it is shows only when it runs");
        }
        command.assignments.extend(variables::set_by(&command));
        let mut runs = Vec::new();
        let shift = |_: Unparsable| "what it runs cannot be read";
        match self.deeper(|parser| inside::inside(&command, parser.depth, parser.budget, &mut runs))
        {
            Ok(None) => {}
            Ok(Some(why)) => command.opaque = Some(why),
            Err(error) if self.depth < MAX_DEPTH && self.budget.steps <= self.budget.most => {
                command.opaque = Some(shift(error));
            }
            Err(error) => return Err(error),
        }
        // Before the commands in its words.
        self.out.insert(place, command);
        self.out.append(&mut runs);
        Ok(())
    }

    /// The text between brackets of a substitution.
    pub(in crate::command_line) fn substituted(&mut self) -> Result<(), Unparsable> {
        if !self.waiting.is_empty() {
            return Err(self.fault("a here-document waits while a substitution begins"));
        }
        self.list(&[])?;
        if !self.waiting.is_empty() {
            return Err(self.fault("a here-document is not there when its substitution ends"));
        }
        self.expect(")", "a substitution is not closed")
    }
}
