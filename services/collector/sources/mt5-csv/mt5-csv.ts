import { type Bars, barCount, noBars, sliceBars, timeAt } from '../../../core/bar.ts'
import { feedSeconds } from '../../../core/feed-clock.ts'
import type { Span } from '../../../core/window.ts'
import { type Source, type SourceAnswer, type SourceListener, sourceBarsMax } from '../../source.ts'
import { ExportFiles, type Mt5CsvOptions } from './export-files.ts'
import type { FollowedFile } from './followed-file.ts'
import { Owners } from './owners.ts'
import { createTurns } from './turns.ts'
import { watchFolder } from './watch-folder.ts'

/** So many files are looked at at once in a round through all of them. */
const looksMax = 8
const everything: Span = { from: feedSeconds(0), to: feedSeconds(Number.MAX_SAFE_INTEGER) }

/** The exports that a terminal writes: one file, or a followed folder of them. */
export function createMt5Csv(options: Mt5CsvOptions): Source {
  const files = new ExportFiles(options)
  /** Only what is added to a file after its first full read is live. */
  const readOnce = new Set<FollowedFile>()
  const inTurn = createTurns<FollowedFile>()
  /** To be looked at once more. */
  const again = new Set<FollowedFile>()
  /** Told once when it begins, and once when it ends. */
  const failing = new Set<FollowedFile>()

  async function takeChange(file: FollowedFile, listener: SourceListener): Promise<void> {
    const change = await file.check()
    if (change === 'appended') await tellAdded(file, listener)
    if (change !== 'anew') return
    readOnce.delete(file)
    listener.again(file.options.series, everything)
  }

  /** A file whose turn is taken is looked at again in the next round, or once whoever looks at it is done. */
  async function lookAt(file: FollowedFile, listener: SourceListener): Promise<void> {
    again.add(file)
    if (!readOnce.has(file) || inTurn.isTaken(file)) return
    while (again.delete(file)) {
      try {
        await inTurn(file, () => takeChange(file, listener))
        if (failing.delete(file)) options.log.info({ file: file.options.path }, 'the file can be read again')
      } catch (cause) {
        if (!failing.has(file)) {
          const why = 'a file could not be read; it is tried again'
          options.log.warn({ err: cause, file: file.options.path }, why)
        }
        failing.add(file)
      }
    }
  }

  async function look(listener: SourceListener, signal: AbortSignal): Promise<void> {
    const added = await files.takeIn()
    if (added.length > 0) listener.catalogue(files.symbols(added), false)
    for (const series of added) listener.again(series, everything)
    const left = files.index.all().values()
    const work = async (): Promise<void> => {
      for (const file of left) {
        if (signal.aborted) return
        await lookAt(file, listener)
      }
    }
    await Promise.all(Array.from({ length: looksMax }, work))
  }

  /** A file that the system names goes before the rest of a round. */
  function changed(name: string, listener: SourceListener): boolean {
    const file = files.index.named(name)
    if (file) void lookAt(file, listener)
    return file !== undefined
  }

  return {
    terminal: `mt5-csv ${options.path}`,
    capabilities: { rereadable: true, reads: 'whole' },
    async open(listener, signal) {
      await files.takeIn()
      listener.catalogue(files.symbols(files.index.all().map((file) => file.options.series)), true)
      if (!options.follow) return
      const [lookNow, isKnown] = [() => look(listener, signal), (name: string) => changed(name, listener)]
      watchFolder({ ...options, signal, look: lookNow, changed: isKnown })
    },
    async *read(series, _span, signal) {
      const all = files.index.of(series)
      const owners = await ownersOf(all, signal)
      for (const [index, file] of all.entries()) {
        const done = await inTurn.begin(file, signal)
        try {
          for await (const bars of file.readAll()) {
            if (signal.aborted) return
            for (const piece of pieces(owners.of(bars, index))) yield { bars: piece }
          }
          readOnce.add(file)
        } finally {
          done()
        }
        for (const complete of file.spans) yield { bars: noBars, complete } satisfies SourceAnswer
      }
    },
  }
}

/** Of a time that several files tell of, the last in the order of their names counts: it alone is given. */
async function ownersOf(files: readonly FollowedFile[], signal: AbortSignal): Promise<Owners> {
  const owners = new Owners()
  if (files.length < 2) return owners
  for (const [index, file] of files.entries()) {
    for await (const bars of file.peek()) {
      if (signal.aborted) return owners
      owners.claim(bars, index)
    }
  }
  return owners
}

/** New lines go out at once, and then the windows that they widened. */
async function tellAdded(file: FollowedFile, listener: SourceListener): Promise<void> {
  const { series } = file.options
  const before = new Set(file.spans.map(textOf))
  for await (const bars of file.readOn()) {
    for (const piece of pieces(bars)) listener.closed([{ ...series, bars: piece }])
    listener.tick(timeAt(bars, barCount(bars) - 1))
  }
  for (const span of file.spans) if (!before.has(textOf(span))) listener.complete(series, span)
}

const textOf = (span: Span): string => `${span.from} ${span.to}`

function* pieces(bars: Bars): Generator<Bars> {
  for (let at = 0; at < barCount(bars); at += sourceBarsMax) {
    yield sliceBars(bars, at, Math.min(at + sourceBarsMax, barCount(bars)))
  }
}
