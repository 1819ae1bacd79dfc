import { type FileHandle, open } from 'node:fs/promises'
import { allocateBars, type Bars, sliceBars } from '../../../../core/bars/bar.ts'
import { type FeedSeconds, feedSeconds } from '../../../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../../../core/feeds/resolution.ts'
import { type Layout, LayoutError, layoutOf } from './layout.ts'
import { LineReader } from './line.ts'
import { completeEnd, decode, detectEncoding, type Encoding, lineStart, withoutReturn } from './text.ts'

/** Maximum bytes in memory per open file; a longer line means that the file is no export. */
const chunkBytes = 1 << 17
/** The longest mark, or a character before the first zero byte of either UTF-16. */
const encodingBytes = 4
const gzipMark = [0x1f, 0x8b]

export interface BadLine {
  /** Counted from 1. */
  readonly line: number
  readonly reason: string
  /** Open of its bar; `undefined` when its date or time cannot be read. */
  readonly time: FeedSeconds | undefined
}

/** A run of lines: the good ones as columns (revision 0), in the order of the file. */
export interface Chunk {
  readonly bars: Bars
  /** The line number of each bar. */
  readonly lines: Uint32Array
  /** Most decimals among the four prices of each bar. */
  readonly decimals: Uint8Array
  readonly bad: readonly BadLine[]
  /** Number of the last line that is not blank, good or bad; absent when there is none. */
  readonly lastLine: number | undefined
  /** Number of a last line without a line end whose volume may be cut; only in a finished file. */
  readonly unendedLine: number | undefined
  /** Returns where a line begins, to read from there later. Call it before the next chunk is read. */
  readonly positionOf: (line: number) => Position
}

/** Where reading continues; the start of a file is `fileStart`. */
export interface Position {
  readonly offset: number
  readonly line: number
  readonly encoding: Encoding | undefined
  readonly layout: Layout | undefined
  readonly firstLine: string
}

export const fileStart: Position = {
  offset: 0,
  line: 0,
  encoding: undefined,
  layout: undefined,
  firstLine: '',
}

export type OpenFile = (path: string) => Promise<FileHandle>

const openAny: OpenFile = (path) => open(path, 'r')

export interface ReadOptions {
  readonly resolution: Resolution
  readonly from?: Position
  /** How the file is opened; default: any file at the path. */
  readonly openFile?: OpenFile
  /** Whether the file is finished: then a last line without a line end is read too. */
  readonly finished?: boolean
}

/** Streams complete lines. Returns the position after the last. Throws `LayoutError`, or as the file system does. */
export async function* readExport(path: string, options: ReadOptions): AsyncGenerator<Chunk, Position> {
  const file = await (options.openFile ?? openAny)(path)
  try {
    return yield* readChunks(file, options)
  } finally {
    await file.close()
  }
}

async function* readChunks(file: FileHandle, options: ReadOptions): AsyncGenerator<Chunk, Position> {
  const bytes = Buffer.allocUnsafe(chunkBytes)
  let position = options.from ?? fileStart
  let carried = 0
  let reader: LineReader | undefined
  for (;;) {
    const { bytesRead } = await file.read(bytes, carried, chunkBytes - carried, position.offset + carried)
    let filled = carried + bytesRead
    const atEnd = bytesRead === 0
    if (position.encoding === undefined && filled < encodingBytes && !(atEnd && options.finished)) {
      // The first bytes of a file that is being written do not show its encoding yet.
      if (atEnd) return position
      carried = filled
      continue
    }
    if (position.encoding === undefined && filled > 0) {
      if (gzipMark.every((byte, i) => bytes[i] === byte))
        throw new LayoutError('It is compressed with gzip; unpack it.')
      const { encoding, markBytes } = detectEncoding(bytes.subarray(0, filled))
      position = { ...position, encoding, offset: markBytes }
      bytes.copyWithin(0, markBytes, filled)
      filled -= markBytes
    }
    const encoding = position.encoding ?? 'utf-8'
    const end = atEnd && options.finished ? filled : completeEnd(bytes.subarray(0, filled), encoding)
    if (end === 0 && filled === chunkBytes)
      throw new LayoutError(`Line ${position.line + 1} is longer than ${chunkBytes} bytes.`)
    if (end > 0) {
      const lines = decode(bytes.subarray(0, end), encoding).split('\n')
      const isEnded = lines.at(-1) === ''
      if (isEnded) lines.pop()
      position = startLayout(position, lines, options.resolution)
      if (position.layout) {
        reader ??= new LineReader(position.layout)
        const start = position
        const parsed = parseLines(reader, lines, start, isEnded)
        const positionOf = (number: number): Position => {
          const line = number - 1
          const before = lineStart(bytes.subarray(0, end), encoding, line - start.line)
          return { ...start, line, offset: start.offset + before }
        }
        yield { ...parsed, positionOf }
      }
      position = { ...position, offset: position.offset + end, line: position.line + lines.length }
      bytes.copyWithin(0, end, filled)
    }
    carried = filled - end
    if (atEnd) return position
  }
}

/** The first line that is not blank decides the layout. */
function startLayout(position: Position, lines: readonly string[], resolution: Resolution): Position {
  if (position.layout) return position
  const firstLine = lines.map(withoutReturn).find((line) => line.trim() !== '')
  return firstLine === undefined
    ? position
    : { ...position, firstLine, layout: layoutOf(firstLine, resolution) }
}

/** Maximum bad lines of one piece of the file with a text of their own. */
const badNamedMax = 1_000

function parseLines(
  reader: LineReader,
  lines: readonly string[],
  position: Position,
  isEnded: boolean,
): Omit<Chunk, 'positionOf'> {
  const bars = allocateBars(lines.length)
  const numbers = new Uint32Array(lines.length)
  const decimals = new Uint8Array(lines.length)
  const bad: BadLine[] = []
  const { values } = reader
  let count = 0
  let lastLine: number | undefined
  let unendedLine: number | undefined
  const header = position.layout?.hasHeader ? position.firstLine : undefined
  for (let i = 0; i < lines.length; i++) {
    const line = withoutReturn(lines[i] as string)
    if (line === header || line.trim() === '') continue
    lastLine = position.line + i + 1
    const isUnended = !isEnded && i === lines.length - 1
    if (isUnended && position.layout?.columnsMin === position.layout?.columnsMax) unendedLine = lastLine
    reader.isTerse = bad.length >= badNamedMax
    const fault = reader.read(line, !isUnended)
    if (fault !== undefined) {
      const time = Number.isNaN(values.time) ? undefined : feedSeconds(values.time)
      bad.push({ line: lastLine, reason: fault, time })
      continue
    }
    bars.time[count] = values.time
    bars.open[count] = values.open
    bars.high[count] = values.high
    bars.low[count] = values.low
    bars.close[count] = values.close
    bars.volume[count] = values.volume
    numbers[count] = lastLine
    decimals[count] = values.decimals
    count++
  }
  return {
    bars: sliceBars(bars, 0, count),
    lines: numbers.subarray(0, count),
    decimals: decimals.subarray(0, count),
    bad,
    lastLine,
    unendedLine,
  }
}
