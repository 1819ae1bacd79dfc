import { stat } from 'node:fs/promises'
import type { Resolution } from '../../../../core/feeds/resolution.ts'
import type { FineLine } from './good-lines.ts'
import { type Chunk, type OpenFile, type Position, readExport } from './read-export.ts'

/** First lines, and bytes of the last lines, from which the digits are determined. */
const digitsLines = 1_000
const lastBytes = 1 << 16
/** Minimum other lines that are needed to ignore a single odd one. */
const othersMin = 2

export interface MostDecimals {
  readonly digits: number
  readonly odd?: OddLine
}

/** A single line with more decimals than all others; it is ignored. */
export type OddLine = FineLine

export interface MostDecimalsOptions {
  readonly openFile?: OpenFile
  /** Whether it reads beyond the first lines until one is a bar. */
  readonly untilBar?: boolean
  /** Called with each chunk of the first lines. */
  readonly onChunk?: (chunk: Chunk) => void
}

/** Describes the ignored line in half a sentence. */
export const oddLineText = ({ line, decimals }: OddLine, digits: number): string =>
  `line ${line} alone has ${decimals} decimals, so it does not decide the digits: they are ${digits}`

/**
 * Returns the most decimals of a price in an export's first and last lines: a symbol may have got more. A single line
 * with more decimals than all others is ignored. Returns `undefined` when none of the first lines is a bar.
 */
export async function mostDecimals(
  path: string,
  resolution: Resolution,
  { openFile, untilBar = false, onChunk }: MostDecimalsOptions = {},
): Promise<MostDecimals | undefined> {
  const options = { resolution, finished: true, ...(openFile && { openFile }) }
  const found = new Found()
  let rest: Position | undefined
  let left = digitsLines
  for await (const chunk of readExport(path, options)) {
    const { lines, decimals, bad, positionOf } = chunk
    onChunk?.(chunk)
    found.add(decimals.subarray(0, left), lines)
    if (lines.length > left) rest = positionOf(lines[left] as number)
    left -= lines.length + bad.length
    if (untilBar && found.bars === 0) left = digitsLines
    if (left <= 0) break
  }
  const from = rest && lastPart(rest, (await stat(path)).size)
  if (from) for await (const { decimals } of readExport(path, { ...options, from })) found.add(decimals)
  return found.most
}

/** The rest of the file, or the last part of it, whose first line may begin within: then it is no bar. */
function lastPart(rest: Position, size: number): Position {
  const skipped = Math.max(0, size - lastBytes - rest.offset)
  return { ...rest, offset: rest.offset + skipped - (skipped % 2) }
}

/** The most decimals of the lines so far. */
class Found {
  bars = 0
  #decimals = -1
  /** The first line with the most decimals; `undefined` where line numbers are unknown. */
  #line: number | undefined
  #count = 0
  #others = -1

  add(decimals: Uint8Array, lines?: Uint32Array): void {
    for (const [i, each] of decimals.entries()) {
      this.bars++
      if (each === this.#decimals) this.#count++
      else if (each > this.#decimals) {
        this.#others = this.#decimals
        this.#decimals = each
        this.#line = lines?.[i]
        this.#count = 1
      } else this.#others = Math.max(this.#others, each)
    }
  }

  get most(): MostDecimals | undefined {
    if (this.bars === 0) return undefined
    if (this.#count > 1 || this.bars - 1 < othersMin) return { digits: this.#decimals }
    const odd = this.#line === undefined ? {} : { odd: { line: this.#line, decimals: this.#decimals } }
    return { digits: this.#others, ...odd }
  }
}
