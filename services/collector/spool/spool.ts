import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { Log } from '../../platform/log/log.ts'
import { SharedRun } from '../../platform/serial.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import { Ages } from './ages.ts'
import { Entries } from './entries.ts'
import type { SpoolFolder } from './folder.ts'
import { Lost, type LostSpan } from './lost.ts'
import { encodeRecord, recordsIn, type SpooledSeries, type SpoolRecord } from './record.ts'
import { type Place, type Segment, Segments } from './segments.ts'

/** Maximum bytes of one file. The oldest file is dropped as a whole, so each is a small part of the spool. */
const segmentBytesMax = 8 * 1024 * 1024
const segmentsMin = 4
/** Maximum bytes queued for a slow disk; above it a batch is not spooled. */
const queuedBytesMax = 64 * 1024 * 1024
const ageCheckMs = 60_000

export interface SpoolDeps {
  readonly folder: SpoolFolder
  readonly clock: Clock
  readonly log: Log
  /** At either bound the oldest batches are dropped; a gap names their series and range. */
  readonly bytesMax: number
  readonly ageMaxMs: number
}

export interface Kept {
  readonly id: number
  /** Resolves once the batch is on the disk; rejects when it is not spooled. */
  readonly kept: Promise<void>
}

export interface SpoolDepth {
  readonly bytes: number
  readonly bytesMax: number
  readonly batches: number
  readonly bars: number
  /** Age of the oldest batch that no other collector has; 0 when there is none. */
  readonly ageMs: number
}

interface QueuedBatch {
  readonly id: number
  readonly bytes: Uint8Array
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

/** Opens a spool with the batches of earlier runs, however those ended. Rejects when the folder cannot be read. */
export async function openSpool(deps: SpoolDeps): Promise<Spool> {
  const spool = new Spool(deps)
  await spool.recover()
  return spool
}

/**
 * Batches that a collector has sent or will send, until ingest acknowledges them. A batch is on the disk before
 * it is sent. Batches keep their order over all sessions and restarts. Bounded in bytes and age.
 */
export class Spool {
  /** Bars dropped at a bound, and batches that could not be written. */
  droppedBars = 0
  failures = 0
  /** Grows with each loss. */
  lostVersion = 0
  readonly #deps: SpoolDeps
  readonly #segments: Segments
  readonly #entries = new Entries()
  readonly #ages: Ages
  readonly #lost = new Lost()
  #lostWithin: Segment | undefined
  readonly #stopChecking: Cancel
  readonly #work = new SharedRun(() => this.#tidyAndWrite())
  #queue: QueuedBatch[] = []
  #queuedBytes = 0
  #newest: Promise<void> = Promise.resolve()

  constructor(deps: SpoolDeps) {
    const { folder, clock, log, bytesMax } = deps
    this.#deps = deps
    this.#ages = new Ages(clock)
    const fileBytesMax = Math.min(segmentBytesMax, Math.ceil(bytesMax / segmentsMin))
    this.#segments = new Segments({ folder, log, segmentBytesMax: fileBytesMax })
    this.#stopChecking = clock.every(ageCheckMs, () => this.#wake())
  }

  async recover(): Promise<void> {
    for await (const { found, segment } of this.#segments.recover()) {
      const { record, offset, length } = found
      // The newest record of lost bars contains the earlier ones.
      if (record.kind === 'lost') {
        this.#replaceLost(record.series, segment)
        this.lostVersion += 1
      } else {
        const place = { segment, offset, length }
        this.#entries.add(record, { bytes: undefined, place, sinceMs: undefined })
      }
    }
    const { batches, bars } = this.#entries
    if (batches > 0)
      this.#deps.log.info({ batches, bars }, 'unacknowledged batches found in the spool; they are sent first')
    this.#wake()
  }

  append(kind: 'live' | 'history', series: readonly SpooledSeries[]): Kept {
    const record = { kind, utcMs: this.#deps.clock.utcMs(), series }
    const bytes = encodeRecord(record)
    if (this.#queuedBytes + bytes.length > queuedBytesMax) {
      this.failures += 1
      const kept = Promise.reject(
        new Error(`batch not spooled: more than ${queuedBytesMax} bytes would wait for the spool's disk`),
      )
      kept.catch(() => undefined)
      return { id: 0, kept }
    }
    this.#queuedBytes += bytes.length
    const id = this.#entries.add(record, { bytes, place: undefined, sinceMs: this.#ages.nowMs })
    const kept = new Promise<void>((resolve, reject) => {
      this.#queue.push({ id, bytes, resolve, reject })
    })
    // Callers that wait get the rejection; `failures` counts it for the others.
    this.#newest = kept.catch(() => undefined)
    this.#wake()
    return { id, kept }
  }

  /** Resolves once all batches so far are on the disk, or were counted in `failures`. */
  get written(): Promise<void> {
    return this.#newest
  }

  /** Identifiers of all batches, or of those of one kind, oldest first. */
  ids(kind?: 'live' | 'history'): readonly number[] {
    return this.#entries.ids(kind)
  }

  /** Returns `undefined` when the batch was removed meanwhile. Rejects when it cannot be read from the disk. */
  async read(id: number): Promise<SpoolRecord | undefined> {
    const { bytes, place } = this.#entries.get(id) ?? {}
    if (!bytes && !place) return undefined
    const found = bytes ?? (place && (await this.#segments.read(place)))
    const [first] = found ? recordsIn(found) : []
    if (!first) throw new Error('spooled batch is unreadable')
    return first.record
  }

  /** Removes an acknowledged batch. After a kill it may appear again; ingest then finds its bars unchanged. */
  remove(id: number): void {
    if (this.#entries.remove(id)) this.#wake()
  }

  /** Another collector is active and has these bars: they are still sent, but not counted as lost at a bound. */
  handOver(): void {
    this.#entries.markHandedOver()
  }

  /** Time of the newest live bar of a series in the spool; `undefined` after a write of the series failed. */
  until(symbol: string, resolution: Resolution): FeedSeconds | undefined {
    return this.#entries.until(symbol, resolution)
  }

  /** Bytes of its files that were damaged, or torn when they were written; counted when it was opened. */
  get unreadableBytes(): number {
    return this.#segments.unreadableBytes
  }

  get depth(): SpoolDepth {
    const { batches, bars, oldest } = this.#entries
    const ageMs = oldest ? this.#ages.ageMs(oldest) : 0
    return { batches, bars, bytes: this.#segments.bytes, bytesMax: this.#deps.bytesMax, ageMs }
  }

  /** Ranges dropped at a bound that ingest does not know of yet. */
  get lost(): readonly LostSpan[] {
    return this.#lost.spans
  }

  /** Forgets the losses so far: ingest knows of them. */
  acknowledgeLost(): void {
    this.#replaceLost([])
    this.#wake()
  }

  /** Resolves when all batches that can be written are on the disk. */
  async close(): Promise<void> {
    this.#stopChecking()
    do await this.#work.run()
    while (this.#queue.length > 0)
    await this.#deps.folder.close()
  }

  #wake(): void {
    void this.#work.run()
  }

  /** Does all file operations in sequence. Batches that arrive during a write share the next write. */
  async #tidyAndWrite(): Promise<void> {
    await this.#guarded(() => this.#expire())
    await this.#guarded(() => this.#segments.clean())
    const group = this.#takeGroup()
    if (group.length === 0) return
    await this.#guarded(() => this.#makeRoom(group.reduce((sum, { bytes }) => sum + bytes.length, 0)))
    await this.#write(group)
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (cause) {
      this.#deps.log.error({ err: cause }, 'failed to clean up the spool folder')
    }
  }

  #takeGroup(): QueuedBatch[] {
    let bytes = 0
    const end = this.#queue.findIndex(
      (each) => (bytes += each.bytes.length) > this.#deps.bytesMax / segmentsMin,
    )
    const group = this.#queue.splice(0, end === -1 ? this.#queue.length : Math.max(1, end))
    if (this.#queue.length > 0) this.#wake()
    return group
  }

  async #write(group: readonly QueuedBatch[]): Promise<void> {
    try {
      const places = await this.#segments.write(group.map(({ bytes }) => bytes))
      group.forEach(({ id, resolve }, i) => {
        const place = places[i] as Place
        const entry = this.#entries.get(id)
        if (entry) {
          entry.place = place
          entry.bytes = undefined
        } else place.segment.records -= 1
        resolve()
      })
    } catch (cause) {
      this.failures += group.length
      this.#deps.log.error(
        { err: cause, batches: group.length },
        'spool write failed; batches are not spooled',
      )
      for (const { id, reject } of group) {
        this.#entries.reject(id)
        reject(cause)
      }
    }
    this.#queuedBytes -= group.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  async #makeRoom(bytes: number): Promise<void> {
    for (;;) {
      const { oldest } = this.#segments
      if (oldest === undefined || this.#segments.bytes + bytes <= this.#deps.bytesMax) return
      if (this.#segments.isCurrent(oldest)) return
      // The file is removed even when the loss cannot be recorded, or a full disk would stay full.
      await this.#guarded(() =>
        this.#drop(this.#entries.in(oldest), `the spool is full at ${this.#deps.bytesMax} bytes`),
      )
      await this.#segments.drop(oldest)
    }
  }

  async #expire(): Promise<void> {
    const { ageMaxMs } = this.#deps
    const old = this.#entries.expired((came) => this.#ages.isExpired(came, ageMaxMs))
    await this.#drop(old, `batches are kept for at most ${ageMaxMs / 3_600_000} hours`)
  }

  /** Drops batches. The record of the loss is on the disk before their bytes are removed. */
  async #drop(ids: readonly number[], why: string): Promise<void> {
    let bars = 0
    for (const id of ids) {
      const record = await this.read(id).catch(() => undefined)
      // It may have been acknowledged during the read.
      const entry = this.#entries.remove(id)
      if (!entry || entry.isHandedOver) continue
      bars += entry.bars
      this.#lost.add(record?.series ?? [])
    }
    if (bars === 0) return
    this.droppedBars += bars
    this.lostVersion += 1
    const { series } = this.#lost
    const { log, clock } = this.#deps
    log.error({ bars, series: series.length, why }, 'oldest batches dropped from the spool')
    const record = { kind: 'lost' as const, utcMs: clock.utcMs(), series }
    const [place] = await this.#segments.write([encodeRecord(record)])
    this.#replaceLost(series, place?.segment)
  }

  /** `within`: the file with the record of these losses. */
  #replaceLost(series: readonly SpooledSeries[], within?: Segment): void {
    if (this.#lostWithin) this.#lostWithin.records -= 1
    this.#lostWithin = within
    this.#lost.clear()
    this.#lost.add(series)
  }
}
