/** A node over TCP that echoes frames, for tests that kill it. Prints its address. Arguments: name, boot. */
import { tcpNode } from './tcp-node.js';

const [name, boot] = process.argv.slice(2) as [string, string];
const node = await tcpNode(name, Number(boot));
node.links.handle(0xf0, (link, { bytes, start, end }) => link.send(0xf0, 0, bytes.subarray(start, end)));
process.stdin.once('data', (line) => node.links.setMembers(JSON.parse(line.toString())));
process.stdout.write(`${node.member.address}\n`);
