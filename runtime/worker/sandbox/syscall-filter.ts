/**
 * A seccomp filter for a decoder: no sockets, no processes, no mounts, no keys, no access to other processes or to
 * rarely used parts of the kernel; system calls newer than this list are answered as nonexistent. Classic BPF,
 * generated here.
 */
import { endianness } from 'node:os';

type Machine = {
  audit: number;
  clone: number;
  /**
   * From here on numbers belong to another calling convention of the machine: refused as a whole.
   */
  foreign_from: number;
  denied: readonly number[];
};

/** Since 5.x, new system calls have the same number on every machine. */
const DENIED_EVERYWHERE: Readonly<Record<string, number>> = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_open: 434,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
  quotactl_fd: 443,
  memfd_secret: 447,
  process_mrelease: 448,
};
const CLONE3 = 435;
const LAST_KNOWN = 462;

/** Numbers for x64 and arm64; null when the machine has no such call. */
const DENIED: Readonly<Record<string, readonly [number, number | null]>> = {
  socket: [41, 198],
  connect: [42, 203],
  accept: [43, 202],
  accept4: [288, 242],
  bind: [49, 200],
  listen: [50, 201],
  socketpair: [53, 199],
  fork: [57, null],
  vfork: [58, null],
  execveat: [322, 281],
  memfd_create: [319, 279],
  mknod: [133, null],
  mknodat: [259, 33],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  move_pages: [279, 239],
  personality: [135, 92],
  syslog: [103, 116],
  acct: [163, 89],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  iopl: [172, null],
  ioperm: [173, null],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  quotactl: [179, 60],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  perf_event_open: [298, 241],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  clock_adjtime: [305, 266],
};

/** The program in the kernel's format; undefined for an unsupported machine. */
export function printSyscallFilter(architecture: string): Buffer | undefined {
  const machine = machineOf(architecture);
  if (machine === undefined || endianness() !== 'LE') return undefined;
  return assemble([
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [IF_EQUAL, 1, 0, machine.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_AT],
    [IF_AT_LEAST, 0, 1, machine.foreign_from],
    [RETURN, 0, 0, REFUSE_EPERM],
    ...machine.denied.flatMap((number): Instruction[] => [
      [IF_EQUAL, 0, 1, number],
      [RETURN, 0, 0, REFUSE_EPERM],
    ]),
    // Its flags are in memory, which a filter cannot read: libraries fall back to clone.
    [IF_EQUAL, 0, 1, CLONE3],
    [RETURN, 0, 0, REFUSE_ENOSYS],
    [IF_ABOVE, 0, 1, LAST_KNOWN],
    [RETURN, 0, 0, REFUSE_ENOSYS],
    [IF_EQUAL, 1, 0, machine.clone],
    [RETURN, 0, 0, ALLOW],
    // Allows a thread, but not a process.
    [LOAD, 0, 0, FIRST_ARGUMENT_AT],
    [IF_ANY_BIT, 1, 0, CLONE_THREAD],
    [RETURN, 0, 0, REFUSE_EPERM],
    [RETURN, 0, 0, ALLOW],
  ]);
}

function machineOf(architecture: string): Machine | undefined {
  const common = Object.values(DENIED_EVERYWHERE);
  const rows = Object.values(DENIED);
  if (architecture === 'x64') {
    const denied = [...rows.map(([x64]) => x64), ...common];
    return { audit: 0xc000003e, clone: 56, foreign_from: 0x40000000, denied };
  }
  if (architecture === 'arm64') {
    const denied = [...rows.flatMap(([, arm64]) => arm64 ?? []), ...common];
    return { audit: 0xc00000b7, clone: 220, foreign_from: 0x40000000, denied };
  }
  return undefined;
}

/** Code, jump if true, jump if false (both in instructions ahead), value. */
type Instruction = readonly [number, number, number, number];

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_ABOVE = 0x25;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Offsets in struct seccomp_data; for an argument, of its lower half. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const FIRST_ARGUMENT_AT = 16;

const KILL = 0x80000000;
const ALLOW = 0x7fff0000;
const REFUSE_EPERM = 0x00050001;
const REFUSE_ENOSYS = 0x00050026;
const CLONE_THREAD = 0x00010000;

const INSTRUCTION_BYTES = 8;

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  for (const [index, [code, whenTrue, whenFalse, value]] of program.entries()) {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(whenTrue, at + 2);
    bytes.writeUInt8(whenFalse, at + 3);
    bytes.writeUInt32LE(value, at + 4);
  }
  return bytes;
}
