import { setTimeout as pause } from 'node:timers/promises'
import { rollOut } from '../../support/cluster/roll-out.ts'
import type { ClientsCluster } from './clients-cluster.ts'

/** Asks both clients at a random moment what they think of the quiet feed. */
export type Sample = (expected: 'quiet' | 'dead') => Promise<void>

/** A fault that both clients meet. It is over when `run` resolves. */
export interface ClientFault {
  readonly name: string
  readonly run: (of: ClientsCluster, sample: Sample) => Promise<void>
  /** Faults that follow before the clients have returned. */
  readonly meanwhile?: readonly ClientFault[]
  /** The code with which both streams must end; without it they must not end. */
  readonly ends?: string
}

/** Durations in seconds. */
export interface Durations {
  /** Longest cut of the network. */
  readonly cut: number
  /** How long a program reads nothing, or its process is frozen. */
  readonly stop: number
}

/** Maximum time in ms in which a process stays dead, beside the time of its start. */
const deadMs = 500

type Choose = (of: ClientsCluster) => string[]
const all =
  (role: string): Choose =>
  (of) =>
    of.pods(role)
const one =
  (role: string): Choose =>
  (of) => {
    const names = of.pods(role)
    return [names[of.any(names.length)] ?? '']
  }

const kill = (name: string, choose: Choose): ClientFault => ({
  name: `kill of ${name}`,
  run: async (of) => {
    const killed = choose(of).map((each) => of.cluster.pod(each).program)
    await Promise.all(killed.map((program) => program.kill()))
    await pause(of.any(deadMs))
    await Promise.all(killed.map((program) => program.start()))
  },
})

const killOf = (name: string, server: (of: ClientsCluster) => Server): ClientFault => ({
  name: `kill of ${name}`,
  run: async (of) => {
    const killed = server(of)
    await killed.kill()
    await pause(of.any(deadMs))
    await killed.start()
  },
})
interface Server {
  kill(): Promise<unknown>
  start(): Promise<unknown>
}

const freeze = (name: string, server: (of: ClientsCluster) => Freezable): ClientFault => ({
  name: `frozen ${name}`,
  run: async (of) => {
    const frozen = server(of)
    await frozen.freeze()
    await pause(1_000 + of.any(2_000))
    frozen.thaw()
  },
})
interface Freezable {
  freeze(): Promise<void>
  thaw(): void
}

const rollout = (role: string): ClientFault => ({
  name: `rollout of ${role}`,
  run: async (of) => {
    for (const name of one(role)(of)) await rollOut(of.cluster, name)
  },
})

const cutKinds = {
  refuse: 'connections reset and refused',
  mute: 'no answer, not even to new connections',
  hold: 'all bytes come late',
} as const

const cut = (seconds: number, kind: keyof typeof cutKinds): ClientFault => ({
  name: `cut of ${seconds} s, ${cutKinds[kind]}`,
  run: async ({ proxies }, sample) => {
    const end = Date.now() + 1_000 * seconds
    const held = { kind: 'hold', from: '' } as const
    for (const proxy of proxies) {
      proxy.set(kind === 'hold' ? { up: held, down: held } : { connections: kind })
      if (kind === 'refuse') proxy.reset()
      if (kind === 'mute') proxy.strand()
    }
    if (kind === 'refuse' && seconds > 2) await sample('dead')
    await pause(end - Date.now())
    for (const proxy of proxies) {
      if (kind === 'hold') await proxy.release()
      else proxy.set({})
      if (kind === 'mute') proxy.reset()
    }
  },
})

/** Sets the clock of both clients while they reconnect. */
const clock = (seconds: number): ClientFault => ({
  name: `clock of the clients ${Math.abs(seconds)} s ${seconds < 0 ? 'slow' : 'fast'}`,
  run: async ({ followers, proxies, any }) => {
    for (const proxy of proxies) proxy.reset()
    await pause(any(2_000))
    for (const follower of followers) follower.setClock(seconds)
  },
})

const stops = (seconds: number): ClientFault => ({
  name: `programs that read nothing for ${seconds} s`,
  run: async ({ followers }) => {
    for (const follower of followers) follower.reads(false)
    await pause(1_000 * seconds)
    for (const follower of followers) follower.reads(true)
  },
})

/** The clients need a minute to notice it. */
const halfOpen: ClientFault = {
  name: 'half-open connections',
  meanwhile: [
    kill('REST', one('rest')),
    killOf('QuestDB', ({ cluster }) => cluster.questdb),
    freeze('QuestDB', ({ cluster }) => cluster.questdb),
    kill('the collector', () => ['collector-brokerb-live']),
    kill('ingest', one('ingest')),
    rollout('rest'),
    rollout('ingest'),
  ],
  run: async ({ proxies }) => {
    for (const proxy of proxies) proxy.strand()
  },
}

const rotation: ClientFault = { name: 'rotation of the key', run: (of) => of.rotate() }

const revocation: ClientFault = {
  name: 'revocation of the key, then a start behind the last bars with another key',
  ends: 'KEY_INACTIVE',
  run: async (of) => {
    const spare = await of.issue()
    await of.revoke()
    of.use(spare)
    for (const follower of of.followers) follower.begin()
  },
}

/** Time in ms within which the service sends that the status of a feed changed. */
const toldMs = 5_000
/** Longest time in ms until the clients know it, on a busy machine. */
const shownMsMax = 3 * toldMs

/** The collector of the quiet feed stops for longer than 300 s, or the board of feeds says so. */
const heartbeatsStop = (isWaited: boolean): ClientFault => ({
  name: `a collector that ${isWaited ? 'stopped 301 s ago' : 'stops, its last heartbeat set 301 s back'}`,
  run: async (of, sample) => {
    const { program } = of.cluster.pod('collector-brokerb-files')
    await program.kill()
    await sample('quiet')
    if (isWaited) await pause(301_000)
    else await of.ageHeartbeats(301)
    await of.judged('dead', shownMsMax)
    for (let i = 0; i < 5; i++) await sample('dead')
    await program.start()
    await of.judged('quiet', shownMsMax)
  },
})

/** Redis comes back empty, so the next heartbeat must come before a feed is known to have one. */
const emptied: ClientFault = {
  name: 'kill of Redis',
  run: async (of, sample) => {
    await killOf('Redis', ({ cluster }) => cluster.redis).run(of, sample)
    await of.heardAgain(toldMs)
  },
}

/** Faults that take minutes. */
export const longFaults: readonly ClientFault[] = [cut(180, 'refuse'), stops(180), heartbeatsStop(true)]

/** All faults, in an order in which one does not make the clients wait longer for the next. */
export const clientFaults = ({ cut: cutSeconds, stop }: Durations): readonly ClientFault[] => [
  halfOpen,
  clock(3_600),
  clock(-3_600),
  kill('a shard', one('stream')),
  kill('all shards', all('stream')),
  rollout('stream'),
  killOf('the proxy', ({ cluster }) => cluster.balancer),
  cut(1, 'refuse'),
  cut(cutSeconds, 'refuse'),
  cut(cutSeconds, 'mute'),
  cut(cutSeconds, 'hold'),
  stops(stop),
  {
    name: `programs that are frozen for ${stop} s`,
    run: async ({ followers }) => {
      for (const follower of followers) follower.signal('SIGSTOP')
      await pause(1_000 * stop)
      for (const follower of followers) follower.signal('SIGCONT')
    },
  },
  freeze('shard', (of) => of.cluster.pod(one('stream')(of)[0] ?? '').program),
  rotation,
  revocation,
  heartbeatsStop(false),
  emptied,
  freeze('Redis', ({ cluster }) => cluster.redis),
]
