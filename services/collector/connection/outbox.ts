import { timeAt } from '../../core/bars/bar.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { WireLane } from '../../wire/encode-bars.ts'
import type { OutgoingBars } from '../series/bar-router.ts'
import { latestRevision } from '../series/revisions.ts'
import { barsIn, type SpooledSeries } from '../spool/record.ts'
import type { Kept, Spool } from '../spool/spool.ts'
import { AcceptedRevisions } from './accepted-revisions.ts'
import { backfillMessagesMax, HistoryRoom } from './history-room.ts'
import type { Packed } from './pack-bars.ts'
import { type Answer, Disconnected, reasonOf, refusedBars } from './session-client.ts'
import type { SessionDeps } from './session-deps.ts'

const clockWasSet =
  'ingest rejects revisions that are ahead of its clock: the next session reads that clock again'

export type OutboxDeps = Omit<SessionDeps, 'router' | 'clock'>

export const spooledOf = ({ message, parts }: Packed<OutgoingBars>): SpooledSeries[] =>
  parts.map(({ item: { symbol, resolution }, bars }, i) => ({
    symbol,
    resolution,
    first: timeAt(bars, 0),
    last: timeAt(bars, bars.time.length - 1),
    count: bars.time.length,
    encoded: message[i] as SpooledSeries['encoded'],
  }))

/** Waits for room for a live batch of an earlier session. If an older ingest names no bound of bars, messages are counted. */
function liveRoom(
  unackedBarsMax: number | undefined,
  signal: AbortSignal,
): (count: number) => Promise<() => void> {
  const room = new Semaphore(unackedBarsMax ?? backfillMessagesMax, signal)
  return async (count) => {
    const weight = unackedBarsMax === undefined ? 1 : count
    await room.enter(weight)
    return () => room.leave(weight)
  }
}

/**
 * Sends the batches of one session. With a spool, live batches and corrections are on the disk from before they are sent
 * until their Ack; the source can be asked for history again. Live batches of earlier sessions are sent first, then
 * their corrections, which hold back no live bar. When ingest refuses revisions as ahead of its clock, the session
 * ends and the batch stays: the next session knows that clock and makes these revisions again.
 */
export class Outbox {
  /** Resolves once all live batches of earlier sessions were sent; rejects when the session ends. */
  readonly drained: Promise<void>
  /** For history, corrections of earlier sessions included. */
  readonly room: HistoryRoom
  readonly #deps: OutboxDeps
  #previous: Promise<unknown>
  #reportedVersion = 0
  /** Batches sent in this session: all, and up to the last report of gaps. */
  #sentBatches = 0
  #reportedAt = 0

  /** Starts sending. Ingest must know the symbols. */
  constructor(deps: OutboxDeps) {
    const { spool } = deps
    this.#deps = deps
    this.room = new HistoryRoom(deps.signal)
    this.drained = spool ? this.#drain(spool) : Promise.resolve()
    // Callers that wait get the rejection. Without callers it must not count as unhandled.
    this.drained.catch(() => undefined)
    this.#previous = this.drained
  }

  /** Sends on the live lane, in the order of the calls; resolves at the Ack. */
  live(batch: Packed<OutgoingBars>): Promise<Answer> {
    const { spool } = this.#deps
    if (!spool) return this.#post('LIVE', batch)
    const { id, kept } = spool.append('live', spooledOf(batch))
    // A batch that the disk rejects is sent anyway; the spool has counted the failure.
    const ready = Promise.allSettled([this.#previous, kept])
    // The result is dropped, because it would keep the results of all earlier batches.
    this.#previous = ready.then(() => undefined)
    return ready.then(() => this.#post('LIVE', batch, id))
  }

  /** Spools a correction before it is sent, because it would not be read from the source again. */
  keep(batch: Packed<OutgoingBars>): Kept | undefined {
    return this.#deps.spool?.append('history', spooledOf(batch))
  }

  /** Sends on the backfill lane; resolves at the Ack. `kept`: the spool has it. */
  async backfill(batch: Packed<OutgoingBars>, kept?: Kept): Promise<Answer> {
    await kept?.kept.catch(() => undefined)
    return this.#post('BACKFILL', batch, kept?.id)
  }

  /** Does not wait itself: it would keep the message until the Ack. */
  #post(
    lane: WireLane,
    { message, count }: Pick<Packed<OutgoingBars>, 'message' | 'count'>,
    id?: number,
  ): Promise<Answer> {
    return this.#take(this.#deps.client.bars(lane, message), { lane, count, id })
  }

  async #take(
    answered: Promise<Answer>,
    { lane, count, id }: { readonly lane: WireLane; readonly count: number; readonly id: number | undefined },
  ): Promise<Answer> {
    const { client, metrics, spool } = this.#deps
    this.#sentBatches += 1
    const number = this.#sentBatches
    metrics?.sent(lane, count)
    const answer = await answered
    const refused = refusedBars(answer.refused)
    metrics?.acked(lane, count - refused)
    if (refused > 0) metrics?.refused(refused)
    const isAhead = answer.refused.some(({ reason }) => reasonOf(reason) === 'REVISION')
    if (isAhead) client.cancel(new Disconnected('CANCELLED', clockWasSet))
    else if (id !== undefined) spool?.remove(id)
    this.#reportLost(number)
    return answer
  }

  /** Sends the batches that earlier sessions left. Resolves once the live ones were sent. */
  async #drain(spool: Spool): Promise<void> {
    const { client, signal, log, time } = this.#deps
    const [live, corrections] = [spool.ids('live'), spool.ids('history')]
    const batches = live.length + corrections.length
    // Below all revisions of this session: bars that the session reads replace the spooled bars sent here.
    let revision = time.utcMs() - batches
    const accepted = new AcceptedRevisions(latestRevision(time.utcMs()))
    this.#reportLost(this.#sentBatches)
    const enterLive = liveRoom(client.unackedBarsMax, signal)
    const send = async (id: number): Promise<void> => {
      const record = await spool.read(id).catch((cause: unknown) => {
        log.error({ err: cause }, 'failed to read a spooled batch; this session does not send it')
        return undefined
      })
      const [first] = record?.series ?? []
      if (!record || !first) return
      const count = barsIn(record)
      const isLive = record.kind === 'live'
      const leave = await (isLive ? enterLive(count) : this.room.enter(first.resolution, count))
      const message = accepted.messageOf(record, revision++)
      this.#post(isLive ? 'LIVE' : 'BACKFILL', { message, count }, id)
        .then(({ refused }) => {
          if (refused[0])
            log.warn(
              { bars: refusedBars(refused), why: refused[0].message },
              'spooled bars rejected by ingest',
            )
        })
        // The session has ended; the batch is still in the spool.
        .catch(() => undefined)
        .finally(leave)
    }
    const sendAll = async (ids: readonly number[]): Promise<void> => {
      for (const id of ids) await send(id)
    }
    if (batches > 0) log.info({ batches }, 'sending the spooled batches')
    await sendAll(live)
    sendAll(corrections).catch(() => undefined)
  }

  /** Reports bars dropped at the spool's bound, until a batch sent after the report is acknowledged. */
  #reportLost(acked: number): void {
    const { spool, client } = this.#deps
    if (!spool || spool.lost.length === 0) return
    if (this.#reportedVersion === spool.lostVersion) {
      if (acked > this.#reportedAt) spool.acknowledgeLost()
      return
    }
    this.#reportedVersion = spool.lostVersion
    this.#reportedAt = this.#sentBatches
    for (const { symbol, resolution, from, to, bars } of spool.lost) {
      const reason = `the spool reached its limit of bytes or hours and dropped ${bars} unacknowledged bars`
      client.gap({ symbol, resolution, from, to, reason })
    }
  }
}
