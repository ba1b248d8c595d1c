/** Takes the folder given as argument, says so, and waits for the end. */
import { NodeDisk } from '../../../src/store/node-disk.js';

const folder = process.argv[2]!;
try {
  await NodeDisk.open(folder);
  process.stdout.write('held\n');
  setInterval(() => undefined, 1000);
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
  process.exit(1);
}
