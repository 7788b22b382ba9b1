/**
 * A DNS server on a free UDP loopback port. The test decides every answer, so two queries can get different addresses,
 * as in a DNS rebinding attack.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export type DnsStub = {
  /** The address in the form that `Resolver.setServers` expects. */
  server: string;
  /** The number of queries received. */
  asked(): number;
  /**
   * Sets the function that returns the addresses of a name; undefined leaves the query unanswered.
   */
  answer(next: (name: string, family: 4 | 6) => readonly string[] | undefined): void;
  close(): Promise<void>;
};

const A = 1;
const AAAA = 28;

export async function startDnsStub(): Promise<DnsStub> {
  let asked = 0;
  let answer: Parameters<DnsStub['answer']>[0] = () => [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    asked += 1;
    const { name, type, end } = readQuestion(query);
    const addresses = type === A || type === AAAA ? answer(name, type === A ? 4 : 6) : [];
    if (addresses === undefined) return;
    socket.send(printAnswer(query.subarray(0, end), addresses, type), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked: () => asked,
    answer: (next) => {
      answer = next;
    },
    close: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function printAnswer(question: Buffer, addresses: readonly string[], type: number): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  const records = addresses.map((text) => {
    const bytes = type === A ? Buffer.from(text.split('.').map(Number)) : printIpv6(text);
    const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length]);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([head, ...records]);
}

/** Accepts at most one `::` and no embedded IPv4 address. */
function printIpv6(text: string): Buffer {
  const [left = '', right = ''] = text.split('::');
  const groups = (part: string) =>
    part === '' ? [] : part.split(':').map((hex) => Number(`0x${hex}`));
  const [first, last] = [groups(left), groups(right)];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]));
}
