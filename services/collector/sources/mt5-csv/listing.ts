import { opendir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import { terminalCodes } from '../../../core/feeds/resolution.ts'
import { show } from '../../../core/show.ts'
import { didYouMean } from '../../../core/suggest.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { SourceSeries } from '../source.ts'
import { type FileSeries, seriesOfFile } from './export/file-name.ts'

export interface ListedFile {
  readonly path: string
  /** The folder that a link must not leave; absent for a source that is one file. */
  readonly folder?: string | undefined
  readonly series: SourceSeries
}

/** Describes why a name is not the name of an export. */
function nameFault(name: string): string {
  const wanted = `wanted is RAW_RESOLUTION.csv with one of ${[...terminalCodes.keys()].join(', ')}, such as EURUSD_M1.csv`
  const [stem = '', ...after] = name.replace(/\.[^.]*$/, '').split('_')
  const last = after.at(-1)
  if (!name.toLowerCase().endsWith('.csv') || stem === '' || last === undefined) return wanted
  return `${show(last)} is no resolution${didYouMean(last, terminalCodes.keys())}; ${wanted}`
}

/** Maximum entries of a folder, more than any terminal writes; further ones are not read, with a warning. */
const entriesMax = 20_000
/** Entries that the system returns at once. */
const entriesPerCall = 1_000

/**
 * Returns a function that lists the exports of a folder, or the one file. It logs once for each other file why that
 * file is not read, for at most `max` files.
 */
export function createListing(
  path: string,
  { key, resolutions }: Pick<FeedDefinition, 'key' | 'resolutions'>,
  log: Log,
  max = entriesMax,
): () => Promise<readonly ListedFile[]> {
  const reported = new Set<string>()
  let wasTooMany = false
  let isFolder = false
  const ignore = (name: string, why: string): void => {
    if (reported.has(name) || reported.size >= max) return
    reported.add(name)
    const file = isFolder ? join(path, name) : path
    log.warn({ file }, `${file} is not read: ${why}`)
  }
  const seriesOf = (name: string): FileSeries | undefined => {
    const series = seriesOfFile(name)
    if (!series) ignore(name, nameFault(name))
    else if (series.resolution === '30')
      ignore(name, '30 is derived from M1 when it is read: the file is not needed')
    else if (!resolutions.includes(series.resolution))
      ignore(name, `${key} does not list resolution ${series.resolution} in spec.resolutions`)
    else return series
    return undefined
  }
  return async () => {
    isFolder = (await stat(path)).isDirectory()
    const { names, isTooMany } = isFolder
      ? await regularNames(path, max, ignore)
      : { names: [basename(path)], isTooMany: false }
    if (isTooMany && !wasTooMany) {
      const text = `${path} has more than ${max} entries; ${max} of them are read, bars in the other files are missing`
      log.warn({ file: path, entriesMax: max }, text)
    }
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
