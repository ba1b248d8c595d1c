#!/usr/bin/env node
/**
 * The command line. Each command's file declares it; what a command needs to run is loaded when it runs.
 * Exit codes: 0 done, 1 failed, 2 wrong usage; with one line on standard error.
 */
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/settings.js';
import { version } from '../version.js';
import { benchCommand } from './bench.js';
import { clusterCommand } from './cluster.js';
import { definitionsCommand } from './definitions.js';
import { drainCommand, reviveCommand } from './drain.js';
import { CommandError, ExitCode, explain } from './fail.js';
import { forgetCommand } from './forget.js';
import { lagCommand } from './lag.js';
import { overrideCommand } from './override.js';
import { permissionsCommand } from './permissions.js';
import { operatorPolicyCommand, policyCommand } from './policy.js';
import { serveCommand } from './serve.js';
import { statusCommand } from './status.js';
import { transferCommand } from './transfer.js';
import { userCommand } from './user.js';
import { vhostCommand } from './vhost.js';

const program: Command = new Command('understudy')
  .description('A message broker that does not lose messages')
  .version(version)
  .exitOverride()
  .configureOutput({ outputError: () => {} });
const commands = [
  serveCommand(),
  clusterCommand(),
  statusCommand(),
  policyCommand(),
  operatorPolicyCommand(),
  userCommand(),
  vhostCommand(),
  permissionsCommand(),
  definitionsCommand(),
  drainCommand(),
  reviveCommand(),
  transferCommand(),
  overrideCommand(),
  forgetCommand(),
  benchCommand(),
  lagCommand(),
];
for (const command of commands) program.addCommand(inherit(command, program));

function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const part of command.commands) inherit(part, command);
  return command;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  return error instanceof CommanderError || error instanceof ConfigError ? ExitCode.usage : ExitCode.failed;
}

try {
  await program.parseAsync();
} catch (error) {
  const asked = error instanceof CommanderError && error.exitCode === 0;
  if (!asked) {
    const text = explain(error).replace(/^error: /, '');
    process.stderr.write(`understudy: ${text === '(outputHelp)' ? 'which command? See understudy --help' : text}\n`);
    process.exitCode = exitCodeOf(error);
  }
}
