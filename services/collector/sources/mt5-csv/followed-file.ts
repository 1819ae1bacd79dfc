import { open, stat } from 'node:fs/promises'
import { type Bars, barCount, selectBars, timeAt } from '../../../core/bar.ts'
import { BarClusters } from '../../../core/clusters.ts'
import type { FeedSeconds } from '../../../core/feed-clock.ts'
import { sortBars } from '../../../core/revision.ts'
import type { Span } from '../../../core/window.ts'
import { Holes } from '../../holes.ts'
import type { SourceSeries } from '../../source.ts'
import { type BadLine, type Chunk, fileStart, type Position, readExport } from './read-export.ts'

export interface FollowedFileOptions {
  readonly path: string
  readonly series: SourceSeries
  /** Decimals that a price of this symbol may have; another file of it may raise them. */
  readonly decimalsMax: () => number
  readonly maxGapSeconds: number
  readonly isClosed: (open: FeedSeconds) => boolean
  /** Whether the feed's clock (less the symbol's delay) has come to a bar's open. */
  readonly hasBegun: (open: FeedSeconds) => boolean
  readonly onBad: (bad: readonly BadLine[]) => void
}

/** `anew`: it shrank, was replaced or begins otherwise, so all of it is to be read again. */
export type Change = 'none' | 'anew' | 'appended'

interface Fingerprint {
  readonly inode: number
  readonly size: number
  readonly modifiedMs: number
}

/** So much of a file's start tells whether it is still the same: the first line, and what follows it. */
const headBytes = 512

/** One export on the disk and how far it was read. */
export class FollowedFile {
  readonly options: FollowedFileOptions
  #position: Position = fileStart
  #fingerprint: Fingerprint | undefined
  #head = ''
  #clusters: BarClusters
  /** Lines left out for their decimals. */
  #holes: Holes
  /** The last line's bar, while it has not closed: its line is read again until it has. */
  #forming: FeedSeconds | undefined

  constructor(options: FollowedFileOptions) {
    this.options = options
    this.#clusters = this.#noClusters()
    this.#holes = new Holes(options.series.resolution)
  }

  #noClusters(): BarClusters {
    return new BarClusters(this.options.series.resolution, this.options.maxGapSeconds)
  }

  /** The windows that the file speaks for, as far as it was read. */
  get spans(): readonly Span[] {
    return this.#holes.outside(this.#clusters.spans())
  }

  /** Compares the file on the disk with what was read of it. */
  async check(): Promise<Change> {
    const before = this.#fingerprint
    const now = await fingerprintOf(this.options.path)
    if (now === undefined) return 'none'
    if (before === undefined || now.inode !== before.inode || now.size < this.#position.offset) return 'anew'
    const touched = now.size !== before.size || now.modifiedMs !== before.modifiedMs
    if (touched && (await headOf(this.options.path, this.#head.length)) !== this.#head) return 'anew'
    const closedSince = this.#forming !== undefined && this.options.isClosed(this.#forming)
    return touched || closedSince ? 'appended' : 'none'
  }

  /** Reads the whole file, in pieces each ascending in time. */
  async *readAll(): AsyncGenerator<Bars> {
    this.#position = fileStart
    this.#clusters = this.#noClusters()
    this.#holes = new Holes(this.options.series.resolution)
    yield* this.readOn()
  }

  /** Reads the complete lines behind the last one read; a last bar that is still forming is not given. */
  async *readOn(): AsyncGenerator<Bars> {
    const { path, series, isClosed, hasBegun } = this.options
    this.#fingerprint = await fingerprintOf(path)
    const chunks = readExport(path, { resolution: series.resolution, from: this.#position })
    this.#forming = undefined
    let chunk = await chunks.next()
    while (!chunk.done) {
      const next = await chunks.next()
      let bars = this.#good(chunk.value)
      const last = timeAt(bars, barCount(bars) - 1)
      let closed = bars
      if (next.done && barCount(bars) > 0 && !isClosed(last)) {
        this.#forming = last
        closed = selectBars(bars, (i) => timeAt(bars, i) !== last)
      }
      this.#clusters.add(sortBars(closed).bars)
      // One that the clock has not come to yet is given: nothing else closes those before it.
      bars = sortBars(this.#forming !== undefined && hasBegun(last) ? closed : bars).bars
      if (barCount(bars) > 0) yield bars
      chunk = next
    }
    this.#position = this.#forming === undefined ? chunk.value : beforeLastLine(chunk.value)
    this.#head = await headOf(path, Math.min(headBytes, this.#position.offset))
  }

  /** Lines with more decimals than the symbol has are named, never rounded. */
  #good({ bars, lines, decimals, bad }: Chunk): Bars {
    const { onBad } = this.options
    const decimalsMax = this.options.decimalsMax()
    const tooFine = [...lines].flatMap((line, i) => {
      const found = decimals[i] as number
      return found > decimalsMax
        ? [{ line, reason: `a price has ${found} decimals; the symbol has ${decimalsMax}` }]
        : []
    })
    if (bad.length + tooFine.length > 0) onBad([...bad, ...tooFine])
    const fits = (i: number): boolean => (decimals[i] as number) <= decimalsMax
    const good = tooFine.length === 0 ? bars : selectBars(bars, fits)
    this.#holes.fill(good)
    if (tooFine.length > 0) this.#holes.add(selectBars(bars, (i) => !fits(i)))
    return good
  }
}

const beforeLastLine = (position: Position): Position => ({
  ...position,
  offset: position.lastLineOffset,
  line: position.line - 1,
})

async function fingerprintOf(path: string): Promise<Fingerprint | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? { inode: found.ino, size: found.size, modifiedMs: found.mtimeMs } : undefined
}

async function headOf(path: string, length: number): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}
