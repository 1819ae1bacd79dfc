import { barCount, timeAt } from '../../../core/bars/bar.ts'
import { allTimes, type Span } from '../../../core/bars/window.ts'
import type { Log } from '../../../platform/log/log.ts'
import { OutageLog } from '../../../platform/outage-log.ts'
import type { Clock } from '../../../ports/clock.ts'
import { pieces, type SourceListener, type SourceSeries } from '../../source.ts'
import { CompleteMinutes } from './complete-minutes.ts'
import type { ExportFiles } from './export-files.ts'
import { failureOf } from './file-fault.ts'
import { FolderTicks } from './folder-ticks.ts'
import type { FollowedFile } from './followed-file.ts'
import type { KeyedLock } from './keyed-lock.ts'

/** Maximum files that a scan reads at once. */
const scansMax = 8

interface FolderScanDeps {
  readonly files: ExportFiles
  readonly fileLock: KeyedLock<FollowedFile>
  readonly log: Log
  readonly clock: Clock
}

/** Scans followed files for added lines: single files when they change, and all files regularly. */
export class FolderScan {
  readonly #deps: FolderScanDeps
  readonly #minutes: CompleteMinutes
  readonly #ticks = new FolderTicks()
  readonly #again = new WeakSet<FollowedFile>()
  readonly #outages = new WeakMap<FollowedFile, OutageLog>()
  #relistings = 0

  constructor(deps: FolderScanDeps) {
    this.#deps = deps
    this.#minutes = new CompleteMinutes(deps.clock)
  }

  async #takeChange(file: FollowedFile, listener: SourceListener): Promise<void> {
    const change = await file.check()
    if (change === 'appended') await sendAdded(file, this.#ticks, listener)
    if (change !== 'anew') return
    file.wasRead = false
    listener.readAgain(file.series, allTimes)
  }

  /**
   * Scans one file. A locked file is scanned when its current scan ends, or by the next scan of the folder. Returns
   * whether this call read the file to its end.
   */
  async #scanFile(file: FollowedFile, listener: SourceListener): Promise<boolean> {
    const { fileLock } = this.#deps
    this.#again.add(file)
    const outage = this.#outageOf(file)
    if (!file.wasRead || fileLock.isLocked(file)) return false
    while (this.#again.delete(file)) {
      const done = await fileLock.acquire(file)
      try {
        await this.#takeChange(file, listener)
        outage.worked('the file can be read again')
      } catch (cause) {
        outage.failed({ text: 'failed to read a file; retrying', ...failureOf(file.path, cause) })
      } finally {
        done()
      }
    }
    return file.wasRead && !outage.isOut
  }

  #outageOf(file: FollowedFile): OutageLog {
    const about = { file: file.path }
    const outage = this.#outages.get(file) ?? new OutageLog({ ...this.#deps, about })
    this.#outages.set(file, outage)
    return outage
  }

  async run(listener: SourceListener, signal: AbortSignal): Promise<void> {
    const { files, clock } = this.#deps
    const begunMs = clock.monotonicMs()
    const added = await files.refresh()
    this.#list(added, listener)
    for (const series of added) listener.readAgain(series, allTimes)
    const all = files.index.all()
    const minutes = all.filter((file) => file.series.resolution === '1' && file.wasAsked)
    const unread = new Set(minutes)
    const left = all.values()
    const work = async (): Promise<void> => {
      for (const file of left) {
        if (signal.aborted) return
        if (await this.#scanFile(file, listener)) unread.delete(file)
      }
    }
    await Promise.all(Array.from({ length: scansMax }, work))
    if (!signal.aborted)
      this.#minutes.report(minutes, minutes.length > 0 && unread.size === 0 ? begunMs : undefined, listener)
  }

  /** A delta removes no symbol, and changes no raw name. So then all symbols that have a file are listed. */
  #list(added: readonly SourceSeries[], listener: SourceListener): void {
    const { files } = this.#deps
    const { relistings, index } = files
    const all = index.all().map((file) => file.series)
    // An empty folder may be a volume that is missing.
    const snapshot = relistings > this.#relistings && all.length > 0
    if (snapshot) this.#relistings = relistings
    const series = snapshot ? all : added
    if (series.length > 0) listener.catalogue(files.symbols(series), { snapshot })
  }

  /** Scans a file that the system named, before the rest of a folder scan. Returns whether it is known. */
  changed(name: string, listener: SourceListener): boolean {
    const file = this.#deps.files.index.named(name)
    if (file) void this.#scanFile(file, listener)
    return file !== undefined
  }
}

/** Reports new lines at once, and then the windows that they extended. */
async function sendAdded(file: FollowedFile, ticks: FolderTicks, listener: SourceListener): Promise<void> {
  const { series, reportsTicks } = file
  const before = new Set(file.spans.map(textOf))
  for await (const bars of file.readNew()) {
    for (const piece of pieces(bars)) listener.closed([{ ...series, bars: piece }])
    const last = timeAt(bars, barCount(bars) - 1)
    const newestMinute = series.resolution === '1' ? file.newestMinute : undefined
    if (reportsTicks && ticks.take(last, newestMinute)) listener.tick(last)
  }
  for (const span of file.spans) if (!before.has(textOf(span))) listener.complete(series, span)
}

const textOf = (span: Span): string => `${span.from} ${span.to}`
