import { readFile } from 'node:fs/promises';
import { ConfigError, type RawSettings, settingNames } from './settings.js';

const fileBytesMax = 1024 * 1024;

/**
 * Reads a configuration file: YAML (or JSON, which is YAML), a map of settings under the names of the options.
 * Throws ConfigError with the file's name and, where there is one, the line.
 */
export async function readSettingsFile(path: string): Promise<RawSettings> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new ConfigError(`the configuration file cannot be read: ${error.message}`);
  });
  if (text.length > fileBytesMax) throw new ConfigError(`${path} is larger than ${fileBytesMax} bytes`);
  const { parse, YAMLParseError } = await import('yaml');
  let content: unknown;
  try {
    content = parse(text, { maxAliasCount: 0 }) ?? {};
  } catch (error) {
    const reason = error instanceof YAMLParseError ? error.message.split('\n', 1)[0]!.replace(/:$/, '') : String(error);
    throw new ConfigError(`${path}: ${reason}`);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new ConfigError(`${path}: expected lines such as "amqp: 127.0.0.1:5672"`);
  const unknown = Object.keys(content).find((name) => !settingNames.includes(name));
  if (unknown !== undefined)
    throw new ConfigError(`${path}: there is no setting "${unknown}"; known: ${settingNames.join(', ')}`);
  return content as RawSettings;
}
