import { type Bars, barCount, sliceBars, timeAt } from '../../../core/bar.ts'
import { allTimes, type Span } from '../../../core/window.ts'
import type { Log } from '../../../platform/log.ts'
import { type SourceListener, sourceBarsMax } from '../../source.ts'
import type { ExportFiles } from './export-files.ts'
import type { FollowedFile } from './followed-file.ts'
import type { Turns } from './turns.ts'

/** So many files are looked at at once in a round through all of them. */
const looksMax = 8

/** Looks at followed files for what was added, one by one as they change and all of them in rounds. */
export class Rounds {
  readonly #files: ExportFiles
  /** Only what is added to a file after its first full read is live. */
  readonly #readOnce: Set<FollowedFile>
  readonly #inTurn: Turns<FollowedFile>
  readonly #log: Log
  /** To be looked at once more. */
  readonly #again = new Set<FollowedFile>()
  /** Told once when it begins, and once when it ends. */
  readonly #failing = new Set<FollowedFile>()

  constructor(files: ExportFiles, readOnce: Set<FollowedFile>, inTurn: Turns<FollowedFile>, log: Log) {
    this.#files = files
    this.#readOnce = readOnce
    this.#inTurn = inTurn
    this.#log = log
  }

  async #takeChange(file: FollowedFile, listener: SourceListener): Promise<void> {
    const change = await file.check()
    if (change === 'appended') await tellAdded(file, listener)
    if (change !== 'anew') return
    this.#readOnce.delete(file)
    listener.again(file.options.series, allTimes)
  }

  /** A file whose turn is taken is looked at again in the next round, or once whoever looks at it is done. */
  async #lookAt(file: FollowedFile, listener: SourceListener): Promise<void> {
    this.#again.add(file)
    if (!this.#readOnce.has(file) || this.#inTurn.isTaken(file)) return
    while (this.#again.delete(file)) {
      try {
        await this.#inTurn(file, () => this.#takeChange(file, listener))
        if (this.#failing.delete(file))
          this.#log.info({ file: file.options.path }, 'the file can be read again')
      } catch (cause) {
        if (!this.#failing.has(file)) {
          const why = 'a file could not be read; it is tried again'
          this.#log.warn({ err: cause, file: file.options.path }, why)
        }
        this.#failing.add(file)
      }
    }
  }

  async look(listener: SourceListener, signal: AbortSignal): Promise<void> {
    const added = await this.#files.takeIn()
    if (added.length > 0) listener.catalogue(this.#files.symbols(added), { snapshot: false })
    for (const series of added) listener.again(series, allTimes)
    const left = this.#files.index.all().values()
    const work = async (): Promise<void> => {
      for (const file of left) {
        if (signal.aborted) return
        await this.#lookAt(file, listener)
      }
    }
    await Promise.all(Array.from({ length: looksMax }, work))
  }

  /** A file that the system names goes before the rest of a round. */
  changed(name: string, listener: SourceListener): boolean {
    const file = this.#files.index.named(name)
    if (file) void this.#lookAt(file, listener)
    return file !== undefined
  }
}

/** New lines go out at once, and then the windows that they widened. */
async function tellAdded(file: FollowedFile, listener: SourceListener): Promise<void> {
  const { series } = file.options
  const before = new Set(file.spans.map(textOf))
  for await (const bars of file.readOn()) {
    for (const piece of pieces(bars)) listener.closed([{ ...series, bars: piece }])
    if (file.options.tellsTime) listener.tick(timeAt(bars, barCount(bars) - 1))
  }
  for (const span of file.spans) if (!before.has(textOf(span))) listener.complete(series, span)
}

const textOf = (span: Span): string => `${span.from} ${span.to}`

export function* pieces(bars: Bars): Generator<Bars> {
  for (let at = 0; at < barCount(bars); at += sourceBarsMax) {
    yield sliceBars(bars, at, Math.min(at + sourceBarsMax, barCount(bars)))
  }
}
