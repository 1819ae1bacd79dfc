import { resolve } from 'node:path'
import { durationMs, durationWanted } from '../../core/clocks/duration.ts'
import { isFeedKey, parseCompoundKey } from '../../core/feeds/compound-key.ts'
import {
  finestFirst,
  type Resolution,
  storedResolutions,
  terminalCodes,
} from '../../core/feeds/resolution.ts'
import { digitsMax, type SymbolType, symbolTypeNicknames, symbolTypes } from '../../core/feeds/symbol.ts'
import { isCleanName, nameWanted } from '../../core/feeds/symbol-name.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import { Fatal } from '../../platform/process/exit.ts'
import type { ImportedFile } from './file/inspect-file.ts'

export interface GivenOptions {
  readonly feed: string
  readonly symbol: string
  readonly resolution: string
  readonly digits?: string | undefined
  readonly type?: string | undefined
  readonly description?: string | undefined
  readonly derive?: string | undefined
  readonly maxGap?: string | undefined
  readonly resolutionIsRight?: boolean | undefined
  readonly json?: boolean | undefined
}

export interface ImportOptions extends ImportedFile {
  /** Not checked here: the service has the list of feeds. */
  readonly feed: string
  /** The clean name. The service refuses a name with a suffix of its feed. */
  readonly symbol: string
  readonly resolution: Resolution
  /** Whether distances between bars may contradict the resolution. */
  readonly insists: boolean
  /** Absent: the most decimals in the file's first lines. */
  readonly digits: number | undefined
  readonly type: SymbolType | undefined
  readonly description: string
  /** Finest first. */
  readonly derive: readonly Resolution[]
  /** Absent: by resolution. */
  readonly maxGapSeconds: number | undefined
}

const descriptionLengthMax = 200

const refuse = (option: string, got: string, wanted: string): never => {
  throw new Fatal('usage', `${option} is ${show(got)}; it must be ${wanted}.`)
}

/** Parses all options. Throws `Fatal` that names the first wrong option, its value and what is wanted. */
export function parseOptions(name: string, given: GivenOptions, folder: string): ImportOptions {
  const resolution = parseStored('--resolution', given.resolution)
  return {
    path: resolve(folder, name),
    name,
    feed: given.feed,
    symbol: parseSymbol(given.symbol),
    resolution,
    insists: given.resolutionIsRight === true,
    digits: given.digits === undefined ? undefined : parseDigits(given.digits),
    type: given.type === undefined ? undefined : parseType(given.type),
    description: parseDescription(given.description ?? ''),
    derive: given.derive === undefined ? [] : parseDerive(given.derive, resolution),
    maxGapSeconds: given.maxGap === undefined ? undefined : parseMaxGap(given.maxGap),
  }
}

function parseStored(option: string, text: string, allowed = storedResolutions): Resolution {
  if (text === '30')
    throw new Fatal('usage', `${option} is 30, which is never stored: it is derived from 1 when it is read.`)
  const near = didYouMean(text, allowed, terminalCodes)
  const resolution = allowed.find((each) => each === text)
  return resolution ?? refuse(option, text, `one of ${allowed.join(', ')}${near}`)
}

function parseSymbol(name: string): string {
  const parts = parseCompoundKey(name)
  if (parts && isFeedKey(parts.feed))
    return refuse('--symbol', name, 'the clean name alone; give the feed with --feed')
  return isCleanName(name) ? name : refuse('--symbol', name, nameWanted)
}

function parseDigits(text: string): number {
  const digits = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return digits <= digitsMax ? digits : refuse('--digits', text, `a whole number from 0 to ${digitsMax}`)
}

function parseType(text: string): SymbolType {
  const near = didYouMean(text, symbolTypes, symbolTypeNicknames)
  const type = symbolTypes.find((each) => each === text)
  return type ?? refuse('--type', text, `one of ${symbolTypes.join(', ')}${near}`)
}

const parseDescription = (text: string): string =>
  text.length <= descriptionLengthMax && !/\p{Cc}/u.test(text)
    ? text
    : refuse('--description', text, `one line of at most ${descriptionLengthMax} characters`)

function parseDerive(text: string, resolution: Resolution): readonly Resolution[] {
  if (resolution !== '1')
    throw new Fatal('usage', `--derive needs a file of resolution 1; --resolution is ${resolution}.`)
  const names = text.split(',').map((each) => each.trim())
  if (names.includes('1')) return refuse('--derive', text, 'longer than 1, the resolution of the file')
  const longer = storedResolutions.filter((each) => each !== resolution)
  const parsed = names.map((each) => parseStored('--derive', each, longer))
  return [...new Set(parsed)].sort(finestFirst)
}

function parseMaxGap(text: string): number {
  const ms = durationMs(text)
  return ms !== undefined && ms >= 1_000 ? ms / 1_000 : refuse('--max-gap', text, durationWanted)
}
