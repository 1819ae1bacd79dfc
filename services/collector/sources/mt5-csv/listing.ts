import { opendir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import { show } from '../../../core/show.ts'
import { didYouMean } from '../../../core/suggest.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { SourceSeries } from '../../source.ts'
import { fileTimeframes, mt4Minutes, seriesOfFile } from './export/file-name.ts'

export interface ListedFile {
  readonly path: string
  /** The folder that a link must not leave; absent for a source that is one file. */
  readonly folder?: string | undefined
  readonly series: SourceSeries
}

const wanted = `wanted is RAW_TIMEFRAME.csv with one of ${[...fileTimeframes.keys()].join(', ')}, such as EURUSD_M1.csv, or MT4's RAW and minutes, such as EURUSD60.csv`

function nameFault(name: string): string {
  const stem = name.replace(/\.[^.]*$/, '')
  const [raw = '', ...after] = stem.split('_')
  if (!name.toLowerCase().endsWith('.csv') || raw === '') return wanted
  const hint = (part: string): string => didYouMean(part, fileTimeframes.keys())
  const near = after.find((part) => hint(part) !== '') ?? (after.length === 1 ? after[0] : undefined)
  if (near !== undefined) return `${show(near)} is not a timeframe${hint(near)}; ${wanted}`
  const isUnclear = [...mt4Minutes.keys()].some((minutes) => stem.endsWith(minutes))
  const unlisted = 'spec.symbols.list must have a RAW that contains _ or ends in a digit'
  return `it names no timeframe; ${isUnclear ? unlisted : wanted}`
}

/** Maximum entries of a folder, more than any terminal writes; further ones are not read, with a warning. */
const entriesMax = 20_000
/** Entries that the system returns at once. */
const entriesPerCall = 1_000

/** Returns a function that lists the exports. It logs once why another file is not read, for at most `max` files. */
export function createListing(
  path: string,
  { key, resolutions, symbols }: Pick<FeedDefinition, 'key' | 'resolutions' | 'symbols'>,
  log: Log,
  max = entriesMax,
): () => Promise<readonly ListedFile[]> {
  const reported = new Set<string>()
  let wasTooMany = false
  let isFolder = false
  const ignore = (name: string, why: string): void => {
    if (reported.has(name) || reported.size >= max) return
    reported.add(name)
    log.warn({ file: isFolder ? join(path, name) : path, why }, 'file not read')
  }
  const raws = symbols.map(({ raw }) => raw)
  const seriesOf = (name: string): SourceSeries | undefined => {
    const named = seriesOfFile(name, raws)
    if (!named) {
      if (!reported.has(name)) ignore(name, nameFault(name))
      return undefined
    }
    const { raw, timeframe, resolution } = named
    if (resolution === undefined)
      ignore(name, `${show(timeframe)} is a timeframe that fxd does not serve; ${wanted}`)
    else if (resolution === '30')
      ignore(name, '30 is derived from M1 when it is read: the file is not needed')
    else if (!resolutions.includes(resolution))
      ignore(name, `${key} does not list resolution ${resolution} in spec.resolutions`)
    else return { raw, resolution }
    return undefined
  }
  return async () => {
    isFolder = (await stat(path)).isDirectory()
    const { names, isTooMany } = isFolder
      ? await regularNames(path, max, ignore)
      : { names: [basename(path)], isTooMany: false }
    if (isTooMany && !wasTooMany)
      log.warn(
        { file: path, entriesMax: max },
        'too many entries in the folder; bars in the others are missing',
      )
    wasTooMany = isTooMany
    return names.flatMap((name) => {
      const series = seriesOf(name)
      return series ? [isFolder ? { path: join(path, name), folder: path, series } : { path, series }] : []
    })
  }
}

/**
 * Returns names of regular files and links, sorted; others are ignored. Targets of links are checked when they are opened.
 * Stops after `max` entries: this runs each second, and a folder may have millions.
 */
async function regularNames(
  folder: string,
  max: number,
  ignore: (name: string, why: string) => void,
): Promise<{ names: readonly string[]; isTooMany: boolean }> {
  const names: string[] = []
  let entries = 0
  for await (const entry of await opendir(folder, { bufferSize: entriesPerCall })) {
    entries += 1
    if (entries > max) break
    if (entry.isFile() || entry.isSymbolicLink()) names.push(entry.name)
    else ignore(entry.name, 'not a regular file')
  }
  return { names: names.sort(), isTooMany: entries > max }
}
