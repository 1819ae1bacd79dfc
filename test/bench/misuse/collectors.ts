/** Attacks by collectors with a valid token for one feed of their own. */
import type { ClientDuplexStream, StatusObject } from '@grpc/grpc-js'
import { status } from '@grpc/grpc-js'
import { barsOf } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { callMetadata, channelCredentials } from '../../../services/wire/client.ts'
import type { CollectorMessage } from '../../../services/wire/gen/fxd/v1/CollectorMessage.ts'
import type { IngestMessage__Output } from '../../../services/wire/gen/fxd/v1/IngestMessage.ts'
import { Collector } from '../../../services/wire/load.ts'
import { encodeSeries } from '../../support/samples/encode-series.ts'
import type { Attack, Scene, Tally } from './attack.ts'

/** The Push feed of the attackers; it exists for this bench only. */
export const attackersFeed = { broker: 'MISUSE', account: 'LIVE', key: 'MISUSE:LIVE' } as const
/** Symbols of its catalogue. Each has a day of minutes before the first attack. */
export const attackersSymbols = Array.from({ length: 500 }, (_, i) => `SYM${i}`)
const digits = 5

const reconnectMs = 1_000
/** Messages without an Ack, below the limit from which on ingest reads nothing. */
const unackedMax = 8

type Mode = 'LIVE' | 'IMPORT'
type Post = (sequence: number) => CollectorMessage
export type CollectorScene = Pick<Scene, 'collectorToken'> & {
  readonly target: Pick<Scene['target'], 'grpc'>
}

/** Sends these posts in order in a new session, and counts the answers. Resolves at the last Ack, or at the end. */
function converse(
  { target, collectorToken }: CollectorScene,
  tally: Tally,
  order: {
    readonly mode: Mode
    readonly posts: Iterable<Post>
    readonly catalogue?: readonly string[]
  },
): Promise<void> {
  const { mode, posts, catalogue = attackersSymbols } = order
  const identity = { token: collectorToken }
  const client = new Collector(target.grpc, channelCredentials(identity), {
    'grpc.use_local_subchannel_pool': 1,
  })
  const stream: ClientDuplexStream<CollectorMessage, IngestMessage__Output> = client.Session(
    callMetadata(identity),
  )
  const left = posts[Symbol.iterator]()
  let [sequence, unacked] = [0, 0]
  const fill = (): void => {
    while (unacked < unackedMax) {
      const next = left.next()
      if (next.done === true) {
        if (unacked === 0) stream.end()
        return
      }
      sequence += 1
      unacked += 1
      stream.write(next.value(sequence))
      tally.add('messages')
    }
  }
  stream.on('data', ({ known, catalogued, ack, refused }: IngestMessage__Output) => {
    if (known?.last === true) for (const part of cataloguePartsOf(mode, catalogue)) stream.write(part)
    if (catalogued) tally.add('names refused', catalogued.refused.length)
    if (catalogued?.last === true) fill()
    if (refused) tally.add('refused', refused.bars.length)
    const isRefusedWhole = refused?.bars.some(({ reason }) => reason === 'REFUSAL_REASON_SEQUENCE')
    if (isRefusedWhole === true) stream.end()
    if (!ack) return
    unacked -= 1
    tally.add('acks')
    fill()
  })
  stream.on('error', () => undefined)
  stream.write({
    hello: {
      feed: attackersFeed.key,
      collectorId: `attacker-${Math.random()}`,
      mode: `SESSION_MODE_${mode}`,
      terminal: 'bench',
      capabilities: ['CAPABILITY_REREADABLE'],
    },
  })
  return new Promise((resolve) => {
    stream.on('status', ({ code }: StatusObject) => {
      tally.add(`ended ${status[code] ?? code}`)
      client.close()
      resolve()
    })
  })
}

const namesPerPart = 1_000

function cataloguePartsOf(mode: Mode, names: readonly string[]): CollectorMessage[] {
  const revision = Date.now()
  const parts = Math.max(1, Math.ceil(names.length / namesPerPart))
  return Array.from({ length: parts }, (_, part) => ({
    catalogue: {
      revision,
      snapshot: mode === 'LIVE',
      last: part === parts - 1,
      removed: [],
      symbols: names
        .slice(part * namesPerPart, (part + 1) * namesPerPart)
        .map((name) => ({ ...(mode === 'LIVE' ? { raw: name } : { name }), type: 'crypto', digits })),
    },
  }))
}

/** A BACKFILL message with equal bars of one symbol at these times. */
const barsAt =
  (symbol: string, times: readonly number[]): Post =>
  (sequence) => {
    const revision = Date.now()
    const bars = times.map((time) => ({
      time: feedSeconds(time),
      open: 1.1,
      high: 1.2,
      low: 1,
      close: 1.1,
      volume: 1,
      revision,
    }))
    const series = encodeSeries({ symbol, resolution: '1', scale: digits }, barsOf(bars))
    return { bars: { sequence, lane: 'LANE_BACKFILL', series: [series] } }
  }

const minuteSeconds = 60
const weekSeconds = 7 * 86_400
const dayMinutes = 1_440

/** A day of minutes of each symbol, which ended before the present hour. */
export async function storeOneDay(scene: CollectorScene, tally: Tally): Promise<void> {
  const end = Math.floor(Date.now() / 3_600_000) * 3_600
  const times = Array.from({ length: dayMinutes }, (_, i) => end - (dayMinutes - i) * minuteSeconds)
  await converse(scene, tally, {
    mode: 'IMPORT',
    posts: attackersSymbols.map((symbol) => barsAt(symbol, times)),
  })
}

/** Times of one bar a week since 1970: each is in another partition of M1. */
const weeklyTimes = (): number[] =>
  Array.from({ length: Math.floor(Date.now() / 1_000 / weekSeconds) - 1 }, (_, i) => (i + 1) * weekSeconds)

/** Starts a session again whenever it ends. */
const forever = (start: () => Promise<void>): void => {
  void start().then(() => setTimeout(() => forever(start), reconnectMs))
}

/** Each message holds all weeks since 1970 of one symbol. */
export const partitionsLive: Attack = async (scene, tally) => {
  const posts = attackersSymbols.slice(0, 24).map((symbol) => barsAt(symbol, weeklyTimes()))
  return () => forever(() => converse(scene, tally, { mode: 'LIVE', posts }))
}

/** Weeks of a message that a session may send. */
const weeksPerMessage = 32

function* weeksOf(symbols: readonly string[]): Generator<Post> {
  const times = weeklyTimes()
  for (const symbol of symbols)
    for (let i = 0; i < times.length; i += weeksPerMessage)
      yield barsAt(symbol, times.slice(i, i + weeksPerMessage))
}

/** Two imports at once, each in order of time and in small messages. */
export const partitionsImported: Attack = async (scene, tally) => () => {
  for (const symbols of [attackersSymbols.slice(24, 36), attackersSymbols.slice(36, 48)])
    forever(() => converse(scene, tally, { mode: 'IMPORT', posts: weeksOf(symbols) }))
}

const windowsPerSymbol = 400
const hellosAtOnce = 8

function* separateWindows(): Generator<Post> {
  const end = Math.floor(Date.now() / 3_600_000) * 3_600
  for (let i = 0; i < windowsPerSymbol; i++)
    for (const symbol of attackersSymbols) {
      const from = end - (i + 1) * 3 * minuteSeconds
      yield (sequence) => ({
        window: { sequence, symbol, resolution: '1', from, to: from + minuteSeconds },
      })
    }
}

/** 200,000 separate windows over one live session, and eight sessions that begin again and again. */
export const windows: Attack = async (scene, tally) => () => {
  forever(() => converse(scene, tally, { mode: 'LIVE', posts: separateWindows() }))
  for (let i = 0; i < hellosAtOnce; i++)
    forever(() => converse(scene, tally, { mode: 'IMPORT', posts: [], catalogue: [] }))
}

const catalogueSize = 10_000

/** Live catalogues of 10,000 wrong names, each time with other names. */
export const names: Attack = async (scene, tally) => () => {
  let round = 0
  forever(() => {
    const prefix = `WRONG${(round++).toString(36).toUpperCase()}X`
    const catalogue = Array.from({ length: catalogueSize }, (_, i) => `${prefix}${i}`)
    return converse(scene, tally, { mode: 'LIVE', posts: [], catalogue })
  })
}
