import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { IngestMessage } from '../../../wire/gen/fxd/v1/IngestMessage.ts'
import { partsOf } from '../../../wire/parts.ts'
import type { CatalogueChange } from '../../check/catalogue.ts'
import type { Refusal } from '../../check/check-batch.ts'
import type { Counts } from '../../feed/store-history.ts'
import { unackedBarsMax } from '../../feed/waiting-bars.ts'

const bytesPerItem = 32
const bytesPerCharacter = 3
const partsByText = <T>(items: readonly T[], textOf: (item: T) => string) =>
  partsOf(items, (item) => bytesPerItem + textOf(item).length * bytesPerCharacter)

/** The Welcome of an active session. 30 is not listed: it is derived from 1 when read, and never stored. */
export const welcomeOf = (
  { resolutions, quoteBasis }: FeedDefinition,
  at: {
    readonly epoch: number
    readonly utcMs: number
    readonly feedNow: FeedSeconds | undefined
    readonly terminalIdentity: string | undefined
  },
  backfillVersion: number,
): IngestMessage => ({
  welcome: {
    active: true,
    epoch: at.epoch,
    utcMs: at.utcMs,
    ...(at.feedNow !== undefined && { feedNow: at.feedNow }),
    resolutions: resolutions.filter((r) => r !== '30'),
    midQuoted: quoteBasis === 'Mid',
    unackedBarsMax,
    ...(at.terminalIdentity !== undefined && { terminalIdentity: at.terminalIdentity }),
    backfillVersion,
  },
})

export function* cataloguedParts(
  revision: number,
  { symbols, refused }: CatalogueChange['result'],
): Generator<IngestMessage> {
  for (const { part } of partsByText(refused, ({ raw, reason }) => raw + reason)) {
    if (part.length > 0) yield { catalogued: { revision, refused: part, last: false } }
  }
  for (const { part, last } of partsByText(symbols, ({ raw, name }) => raw + name)) {
    const names = part.map(({ raw, name, digits, delaySeconds, since }) => ({
      raw,
      symbol: name,
      digits,
      delaySeconds,
      ...(since !== undefined && { since }),
    }))
    yield { catalogued: { revision, names, last } }
  }
}

export function* refusedParts(sequence: number, refused: readonly Refusal[]): Generator<IngestMessage> {
  if (refused.length === 0) return
  for (const { part } of partsByText(joinNeighbours(refused), ({ message }) => message)) {
    yield {
      refused: {
        sequence,
        bars: part.map(({ reason, ...bar }) => ({ ...bar, reason: `REFUSAL_REASON_${reason}` as const })),
      },
    }
  }
}

function joinNeighbours(refused: readonly Refusal[]): Refusal[] {
  const joined: Refusal[] = []
  for (const each of refused) {
    const last = joined.at(-1)
    const continues =
      last !== undefined &&
      last.series === each.series &&
      last.index + last.count === each.index &&
      last.reason === each.reason &&
      last.message === each.message
    if (continues) joined[joined.length - 1] = { ...last, count: last.count + each.count }
    else joined.push(each)
  }
  return joined
}

export const ackOf = (sequence: number, counts: Counts): IngestMessage => ({ ack: { sequence, ...counts } })
