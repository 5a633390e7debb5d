// Starts `bombus lsp` for texts in B and CSP-M, and runs checks in a terminal.
"use strict";
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

const program = () => vscode.workspace.getConfiguration("bombus").get("path", "bombus");

// Runs the program in a terminal; the shell sees every argument as one word.
const inTerminal = (...args) => {
  const terminal = vscode.window.createTerminal({ name: "Bombus", shellPath: program(), shellArgs: args });
  terminal.show(true);
};

exports.activate = (context) => {
  client = new LanguageClient("bombus", "Bombus", { command: program(), args: ["lsp"] }, { documentSelector: ["b", "csp"].map((language) => ({ scheme: "file", language })) });
  const file = (path) => path || vscode.window.activeTextEditor?.document.uri.fsPath;
  context.subscriptions.push(
    vscode.commands.registerCommand("bombus.check", (path) => file(path) && inTerminal("check", file(path))),
    vscode.commands.registerCommand("bombus.serve", (path) => file(path) && inTerminal("serve", "--open", file(path))),
  );
  return client.start();
};

exports.deactivate = () => client?.stop();
