/**
 * Limits concurrent calls within one process: a project starts with one call, doubles with every quick answer, and
 * returns to one after a slow answer. However many endpoints hang, half of all places remain for the others. Spec:
 * Webhook delivery attempt.
 */
import type { WebhookRoom } from '../db/webhook-attempts.ts';

export type Lanes = {
  /** The room for new claims. */
  room(): Omit<WebhookRoom, 'lease_seconds'>;
  /** Registers a call; the returned function must be called with its duration when it is over. */
  enter(call: { project_id: string; host: string }): (took_ms: number) => void;
};

export type LaneLimits = { total: number; project: number; host: number; slow_ms: number };

const laneLimits: LaneLimits = { total: 512, project: 16, host: 64, slow_ms: 1000 };

/** Projects whose pace is remembered; the longest idle one is forgotten first. */
const REMEMBERED_MAX = 10_000;

type Lane = { width: number; busy: number };

export function createLanes(others: Partial<LaneLimits> = {}): Lanes {
  const limits = { ...laneLimits, ...others };
  const lanes = new Map<string, Lane>();
  const hosts = new Map<string, number>();
  let total = 0;
  return {
    room: () => ({
      limit: limits.total - total,
      rooms: roomsOf(lanes),
      ...slowOnes(lanes, limits),
      host_rooms: new Map(
        [...hosts].map(([host, busy]) => [host, Math.max(0, limits.host - busy)]),
      ),
      host_max: limits.host,
    }),
    enter: ({ project_id, host }) => {
      const lane = lanes.get(project_id) ?? { width: 1, busy: 0 };
      lane.busy += 1;
      total += 1;
      hosts.set(host, (hosts.get(host) ?? 0) + 1);
      remember(lanes, project_id, lane);
      return (tookMs) => {
        lane.busy -= 1;
        total -= 1;
        lane.width =
          tookMs > limits.slow_ms ? 0 : Math.min(Math.max(1, lane.width * 2), limits.project);
        const left = (hosts.get(host) ?? 1) - 1;
        if (left === 0) hosts.delete(host);
        else hosts.set(host, left);
      };
    },
  };
}

/** Width 0 marks a slow project, which may have one call under way. */
function roomsOf(lanes: ReadonlyMap<string, Lane>): Map<string, number> {
  const rooms = new Map<string, number>();
  for (const [project_id, { width, busy }] of lanes) {
    const room = Math.max(0, Math.max(1, width) - busy);
    if (room !== 1) rooms.set(project_id, room);
  }
  return rooms;
}

/** Slow projects together get at most half of the places, even if many are due at once. */
function slowOnes(lanes: ReadonlyMap<string, Lane>, limits: LaneLimits) {
  const slow: string[] = [];
  let slow_limit = Math.floor(limits.total / 2);
  for (const [project_id, { width, busy }] of lanes) {
    if (width > 0) continue;
    slow.push(project_id);
    slow_limit -= busy;
  }
  return { slow, slow_limit: Math.max(0, slow_limit) };
}

function remember(lanes: Map<string, Lane>, project_id: string, lane: Lane): void {
  lanes.delete(project_id);
  lanes.set(project_id, lane);
  if (lanes.size <= REMEMBERED_MAX) return;
  for (const [id, { busy }] of lanes) {
    if (busy > 0) continue;
    lanes.delete(id);
    return;
  }
}
