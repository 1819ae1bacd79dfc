import { noBars } from '../../../core/bars/bar.ts'
import { closeToleranceSeconds } from '../../../core/bars/closed.ts'
import {
  type FeedSeconds,
  feedNow,
  feedSeconds,
  fixedOffset,
  offsetSecondsMax,
  toFeed,
  toSeconds,
  type UtcMs,
} from '../../../core/clocks/feed-clock.ts'
import type { Clock } from '../../../ports/clock.ts'
import { pieces, type Source, type SourceAnswer } from '../../source.ts'
import { ExportFiles, type ExportFilesDeps } from './export-files.ts'
import { asSourceFault } from './file-fault.ts'
import { FolderScan } from './folder-scan.ts'
import type { FollowedFile } from './followed-file.ts'
import { KeyedLock } from './keyed-lock.ts'
import { Owners } from './owners.ts'
import { watchFolder } from './watch-folder.ts'

export interface Mt5CsvDeps extends Omit<ExportFilesDeps, 'now'> {
  readonly clock: Clock
}

/** A source that reads the exports of a terminal: one file, or a folder that may be followed. */
export function createMt5Csv(deps: Mt5CsvDeps): Source {
  const offset = fixedOffset(deps.definition.clock)
  let utcMs = (): UtcMs => deps.clock.utcMs()
  const files = new ExportFiles({ ...deps, now: () => feedNow(utcMs(), offset, undefined) })
  const fileLock = new KeyedLock<FollowedFile>()
  const scan = new FolderScan({ ...deps, files, fileLock })

  return {
    terminal: `mt5-csv ${deps.path}`,
    capabilities: { rereadable: true, reads: 'whole', live: deps.follow, readjusts: true },
    rejectedLines: () => files.rejectedLines,
    async open(listener, signal) {
      utcMs = () => listener.time.utcMs()
      // A change of digits makes the session read the series of the symbol again.
      files.onRaised = (raw) =>
        listener.catalogue(files.symbols([{ raw, resolution: '1' }]), { snapshot: false })
      await files.refresh().catch((cause: unknown) => {
        throw asSourceFault(deps.path, cause)
      })
      listener.catalogue(files.symbols(files.index.all().map((file) => file.series)), {
        snapshot: true,
      })
      if (!deps.follow || signal.aborted) return
      watchFolder({
        ...deps,
        signal,
        look: () => scan.run(listener, signal),
        changed: (name) => scan.changed(name, listener),
      })
    },
    async *read(series, _span, signal) {
      const all = files.index.of(series)
      const digits = files.digitsOf(series.raw)
      for (const file of all) file.wasAsked = true
      const owners = await ownersOf(all, latestNow(utcMs(), offset), signal)
      for (const [index, file] of all.entries()) {
        const done = await fileLock.acquire(file, signal)
        try {
          for await (const bars of file.readAll()) {
            if (signal.aborted || files.digitsOf(series.raw) !== digits) return
            for (const piece of pieces(owners.of(bars, index))) yield { bars: piece }
          }
          file.wasRead = true
        } catch (cause) {
          throw asSourceFault(file.path, cause)
        } finally {
          done()
        }
        for (const complete of file.spans) yield { bars: noBars, complete } satisfies SourceAnswer
      }
    },
  }
}

/** Decides which file owns each time that several files contain: the last one in the order of names. */
async function ownersOf(
  files: readonly FollowedFile[],
  latest: FeedSeconds,
  signal: AbortSignal,
): Promise<Owners> {
  const owners = new Owners(latest)
  if (files.length < 2) return owners
  for (const [index, file] of files.entries()) {
    for await (const bars of file.peek()) {
      if (signal.aborted) return owners
      owners.claim(bars, index)
    }
  }
  return owners
}

/** "Now" on the feed's clock; of a measured clock, the latest that it may show. */
const latestNow = (utcMs: UtcMs, offset = -offsetSecondsMax): FeedSeconds =>
  feedSeconds(toFeed(toSeconds(utcMs), offset) + closeToleranceSeconds)
