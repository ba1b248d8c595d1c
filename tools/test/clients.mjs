/**
 * Other clients for test/long/clients.test.ts, unpacked under node_modules/.cache: Debian's packages of Java, Ruby, PHP, Python and C, and packages
 * of npm, with exact versions. `node tools/test/clients.mjs` fetches them; `npm run test:long` does so before that file.
 */
import { existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchPackages, homeOf, libraryFolders, neededBy, run } from './debian.mjs';
import { fetchPython, python } from './python.mjs';

/** With amqplib for two of them, of the version that they ask for. */
const npmClients = [
  ...['amqp-connection-manager@5.0.0', 'rabbitmq-client@5.0.8', '@cloudamqp/amqp-client@4.1.1', 'rascal@21.0.1'],
  'amqplib@1.0.3',
  ...['rhea-promise@3.0.3', 'ws@8.23.0'],
];

/** A script in the home that runs the interpreter with what it needs to find. Written last: without it, all is fetched again. */
function script(home, settings, command) {
  const path = join(home, 'run');
  const all = { LD_LIBRARY_PATH: libraryFolders(home), ...settings };
  const lines = Object.entries(all).map(([name, folders]) => `export ${name}=${folders.join(':')}\n`);
  writeFileSync(path, `#!/bin/sh\n${lines.join('')}exec ${command.join(' ')} "$@"\n`, { mode: 0o755 });
}

function find(home, ...words) {
  return run('find', [home, ...words], '.')
    .split('\n')
    .filter((path) => path !== '');
}

const makers = {
  ruby(name) {
    fetchPackages(name, (lists) => ['ruby-bunny', ...neededBy(['ruby-bunny'], lists, /^(?:ruby\S*|lib\S+)$/)]);
    const home = homeOf(name);
    const folders = [
      ...find(home, '-path', '*/gems/*/lib', '-type', 'd'),
      ...find(home, '-path', '*/ruby/*', '-type', 'd', '(', '-name', '[0-9].*', '-o', '-name', 'vendor_ruby', ')'),
    ];
    const binary = join(
      home,
      'usr/bin',
      readdirSync(join(home, 'usr/bin')).find((file) => /^ruby\d/.test(file)),
    );
    script(home, { RUBYLIB: folders }, [binary, '--disable-gems']);
  },
  php(name) {
    const wanted =
      /^(?:php[\d.]*-(?:cli|common|mbstring|amqp)|php-(?:phpseclib|constant-time|random-compat)\S*|lib(?:argon2|edit|magic|pcre2|sodium|ssl|xml2|onig|rabbitmq|bsd|md0|icu|lzma|tinfo)\S*)$/;
    const packages = ['php-amqplib', 'php-amqp', 'php-cli', 'php-mbstring'];
    fetchPackages(name, (lists) => ['php-amqplib', ...neededBy(packages, lists, wanted)]);
    const home = homeOf(name);
    const [extension] = find(home, '-name', 'amqp.so');
    const binary = join(
      home,
      'usr/bin',
      readdirSync(join(home, 'usr/bin')).find((file) => /^php[\d.]+$/.test(file)),
    );
    const settings = {
      extension_dir: extension.slice(0, extension.lastIndexOf('/')),
      include_path: join(home, 'usr/share/php'),
    };
    const options = [
      ...Object.entries(settings).map(([key, value]) => `${key}=${value}`),
      ...['sockets', 'mbstring', 'amqp'].map((module) => `extension=${module}`),
    ];
    script(home, {}, [binary, '-n', ...options.flatMap((option) => ['-d', option])]);
  },
  java(name) {
    const packages = ['librabbitmq-client-java', 'default-jdk-headless'];
    const wanted =
      /^(?:openjdk-\d+-\S+-headless|lib(?:rabbitmq-client|slf4j)-java|lib(?:jpeg|lcms|pcsclite|nss|nspr)\S+)$/;
    fetchPackages(name, (lists) => [packages[0], ...neededBy(packages, lists, wanted)]);
    const home = homeOf(name);
    // Its settings are links into /etc.
    for (const link of find(join(home, 'usr/lib/jvm'), '-type', 'l', '-lname', '/etc/*')) {
      const target = join(home, readlinkSync(link));
      unlinkSync(link);
      symlinkSync(target, link);
    }
    const jars = find(join(home, 'usr/share/java'), '-name', '*.jar').filter((path) =>
      /(?:amqp-client|slf4j-(?:api|nop))\.jar$/.test(path),
    );
    script(home, {}, [find(home, '-path', '*/bin/java')[0], '-XX:+UseSerialGC', '-cp', jars.join(':')]);
  },
  'python-clients'(name) {
    fetchPython();
    fetchPackages(name, (lists) => neededBy(['python3-aio-pika'], lists, /^python3-(?!minimal)\S+$/));
    script(homeOf(name), { PYTHONPATH: find(homeOf(name), '-name', 'dist-packages') }, [python]);
  },
  'amqp-tools'(name) {
    fetchPackages(name, (lists) => ['amqp-tools', ...neededBy(['amqp-tools'], lists, /^lib\S+$/)]);
    script(homeOf(name), { PATH: [join(homeOf(name), 'usr/bin'), '$PATH'] }, ['bash']);
  },
  'npm-clients'(name) {
    const home = homeOf(name);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'package.json'), '{"private":true}');
    run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', ...npmClients], home);
    writeFileSync(join(home, 'run'), `#!/bin/sh\nNODE_CLIENTS=${home} exec ${process.execPath} "$@"\n`, {
      mode: 0o755,
    });
  },
};

/** Throws an Error that says what to do. */
export function fetchClients() {
  for (const [name, make] of Object.entries(makers)) {
    if (existsSync(join(homeOf(name), 'run'))) continue;
    try {
      make(name);
    } catch (error) {
      throw new Error(`${name} for the tests of other clients cannot be fetched: ${error.message}`);
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    fetchClients();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
