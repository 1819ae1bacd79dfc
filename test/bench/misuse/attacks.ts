import type { Attack, Scene } from './attack.ts'
import * as collectors from './collectors.ts'
import { pipelined, slowHeads, wrongKeys } from './connections.ts'
import * as frames from './frames.ts'
import { grpcGarbage, silentGrpc } from './grpc-noise.ts'
import { allOfM1, coverage, dearest, foldedM30, symbolList, unread, wholeCoverage } from './requests.ts'
import { noise } from './terminals.ts'

interface NamedAttack {
  readonly what: string
  readonly run: Attack
  /** Count that proves that the attack reached the server. */
  readonly proof: string
  /** Whether the short form includes it. */
  readonly isShort?: true
  /** The bars are in a QuestDB, which must show no suspended table and must not end. Default: embedded. */
  readonly store?: 'questdb'
  /** Goal for the growth of memory, if it is not that of all attacks. */
  readonly memoryMb?: number
}

const http = ({ target }: Scene): string => target.url
const ops = ({ target }: Scene): string => target.ops

const single = new Map<string, NamedAttack>([
  [
    'nested',
    {
      what: 'nested JSON in each field of a frame, 5 sockets',
      run: frames.nested,
      proof: 'frames',
      isShort: true,
    },
  ],
  [
    'page',
    {
      what: '20 connections, 64 KiB of pipelined GET / each, unread',
      run: pipelined({ connections: 20, paths: ['/'], at: http }),
      proof: 'connections',
      isShort: true,
    },
  ],
  [
    'openapi',
    {
      what: '100 connections, 64 KiB of pipelined GET /openapi.json each, unread',
      run: pipelined({ connections: 100, paths: ['/openapi.json'], at: http }),
      proof: 'connections',
      isShort: true,
    },
  ],
  [
    'keyless',
    {
      what: '100 connections, 64 KiB of pipelined /v1 requests without a key each, unread',
      run: pipelined({
        connections: 100,
        paths: ['/v1/config', '/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=1&countback=1', '/v1/none'],
        at: http,
      }),
      proof: 'connections',
    },
  ],
  [
    'ops',
    {
      what: '20 connections, 64 KiB of pipelined GET on the operations port each, unread',
      run: pipelined({ connections: 20, paths: ['/', '/livez', '/readyz', '/metrics'], at: ops }),
      proof: 'connections',
    },
  ],
  [
    'subscribe',
    { what: '30 sockets × lists of 9,000 unknown symbols, 63 KB', run: frames.lists, proof: 'frames' },
  ],
  [
    'since',
    {
      what: '30 sockets × 3,400 unknown symbols with since, 63 KB',
      run: frames.listsSince,
      proof: 'frames',
      isShort: true,
    },
  ],
  [
    'bound',
    { what: '30 sockets × lists just below 5,000 entries', run: frames.listsAtBound, proof: 'frames' },
  ],
  [
    'symbols',
    {
      what: '30 sockets × all symbols subscribed and unsubscribed in turn',
      run: frames.allSymbols,
      proof: 'frames',
    },
  ],
  ['replays', { what: '30 sockets × the same with an hour of since', run: frames.replays, proof: 'frames' }],
  ['pings', { what: '30 sockets × 64 KiB of pings at a time', run: frames.pings, proof: 'KiB' }],
  ['minutes', { what: '300 × all of M1 at once', run: allOfM1, proof: 'requests', isShort: true }],
  [
    'm30',
    {
      what: '590 × resolution=30&countback=10000 at once',
      run: foldedM30,
      proof: 'requests',
      isShort: true,
    },
  ],
  ['list', { what: '590 × /v1/symbols?limit=1000 at once', run: symbolList, proof: 'requests' }],
  ['coverage', { what: '590 × /v1/coverage at once', run: coverage, proof: 'requests' }],
  [
    'unread',
    {
      what: '590 × answers of 0.99 MiB that nobody reads to the end, 100 a second',
      run: unread,
      proof: 'status 200',
      isShort: true,
    },
  ],
  [
    'six-keys',
    {
      what: 'six keys × the dearest requests at once',
      run: dearest,
      proof: 'requests',
      isShort: true,
      // 2,960 connections with their requests, and 64 MiB of long answers.
      memoryMb: 200,
    },
  ],
  [
    'all-coverage',
    { what: '590 × /v1/coverage of all symbols at once', run: wholeCoverage, proof: 'requests' },
  ],
  [
    'wrong-keys',
    { what: '2,000 upgrades with wrong keys, 50 at a time', run: wrongKeys, proof: 'status 401' },
  ],
  ['slow-heads', { what: '2,000 heads of a byte a second', run: slowHeads, proof: 'connections' }],
  [
    'terminals',
    {
      what: '1,000 slow connections and 10 × 10 MiB of noise at the port of terminals, where the victim posts bars',
      run: noise,
      proof: 'status 401',
      isShort: true,
    },
  ],
  ['grpc-silent', { what: '1,000 silent gRPC connections', run: silentGrpc, proof: 'connections' }],
  [
    'grpc-garbage',
    {
      what: 'random bytes, broken sessions and nested groups over gRPC',
      run: grpcGarbage,
      proof: 'connections',
    },
  ],
])

/** Attacks with a credential of a collector, or that need its bars. */
const byCollectors = new Map<string, NamedAttack>([
  [
    'partitions',
    {
      what: 'a live session with a bar in each week since 1970, 24 symbols',
      run: collectors.partitionsLive,
      proof: 'messages',
      store: 'questdb',
      isShort: true,
    },
  ],
  [
    'partition-imports',
    {
      what: 'two imports at once of a bar in each week since 1970, 12 symbols each',
      run: collectors.partitionsImported,
      proof: 'acks',
      store: 'questdb',
      isShort: true,
    },
  ],
  [
    'windows',
    {
      what: '200,000 separate windows of 500 symbols, and 8 sessions that begin again and again',
      run: collectors.windows,
      proof: 'messages',
      isShort: true,
    },
  ],
  ['names', { what: 'catalogues of 10,000 wrong names', run: collectors.names, proof: 'ended OK' }],
  [
    'replays-day',
    {
      what: '30 sockets × 500 symbols subscribed with a day of since, and unsubscribed, in turn',
      run: frames.replaysOfDay,
      proof: 'frames',
      isShort: true,
    },
  ],
])

/** Fraction of each attack, so that the sockets and requests of one key suffice for all. */
const shareOfEach = 1 / 7

const everything: Attack = async (scene, tally) => {
  const begins = await Promise.all(
    [...single.values()].map(({ run }) => run({ ...scene, share: shareOfEach }, tally)),
  )
  return () => {
    for (const begin of begins) begin()
  }
}

/** Attacks by name, in the order of their runs. */
export const attacks: ReadonlyMap<string, NamedAttack> = new Map([
  ...single,
  ...byCollectors,
  [
    'everything',
    { what: 'a seventh of each of these at once', run: everything, proof: 'frames', isShort: true as const },
  ],
])

/** Why the counts of a run prove nothing; `undefined` when the attack reached the server. */
export function missOf(name: string, counts: Readonly<Record<string, number>>): string | undefined {
  const { proof = '' } = attacks.get(name) ?? {}
  if (!counts[proof]) return `the attack counted no ${proof}`
  if (counts['status 429']) return "the limits of the attacker's plan refused a part of the attack"
  return undefined
}
