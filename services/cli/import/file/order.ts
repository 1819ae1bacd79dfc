import { open } from 'node:fs/promises'
import type { Position } from '../../../collector/sources/mt5-csv/export/read-export.ts'
import { lineEnd } from '../../../collector/sources/mt5-csv/export/text.ts'

/** Characters of `YYYY.MM.DD`, and with a separator and `HH:MM`. As text they sort like the times. */
const dateLength = 10
const minuteLength = 16
const chunkBytes = 1 << 20

export interface LineOrder {
  readonly lines: number
  /** The first line that is not later than the one before it; absent when all lines ascend. */
  readonly unsortedLine: number | undefined
}

/**
 * Scans a file once to find whether its lines ascend, from the beginnings of the lines only. A damaged line can make
 * an ascending file look unsorted, which only costs time and memory. An unsorted file never looks ascending.
 * `start`: where the layout was recognised. `onRead` is called with the number of further bytes that were read.
 */
export async function scanOrder(
  path: string,
  start: Position,
  onRead: (bytes: number) => void = () => undefined,
): Promise<LineOrder> {
  const { encoding = 'utf-8', layout } = start
  const prefixBytes = (layout?.hasTime ? minuteLength : dateLength) * (encoding === 'utf-8' ? 1 : 2)
  const before = new Uint8Array(prefixBytes)
  let isHeader = layout?.hasHeader
  let lines = 0
  let unsortedLine: number | undefined
  const take = (bytes: Buffer, from: number, end: number): void => {
    lines++
    // Too short for a time: a blank or damaged line.
    if (end - from < prefixBytes) return
    if (isHeader) isHeader = false
    else if (!advances(before, bytes, from)) unsortedLine ??= lines
  }
  const buffer = Buffer.allocUnsafe(chunkBytes)
  const file = await open(path, 'r')
  try {
    for (let at = start.offset, carried = 0; ; ) {
      const { bytesRead } = await file.read(buffer, carried, chunkBytes - carried, at)
      const bytes = buffer.subarray(0, carried + bytesRead)
      let from = 0
      for (let end = lineEnd(bytes, encoding, 0); end > 0; end = lineEnd(bytes, encoding, from)) {
        take(bytes, from, end)
        from = end
      }
      if (bytesRead === 0) {
        if (bytes.length > from) take(bytes, from, bytes.length)
        return { lines, unsortedLine }
      }
      at += bytesRead
      onRead(bytesRead)
      // A longer line means that the file is no export; reading the file reports that.
      carried = from === 0 && bytes.length === chunkBytes ? 0 : bytes.length - from
      bytes.copyWithin(0, from)
    }
  } finally {
    await file.close()
  }
}

/** Whether the line at `start` is later than `before`, which then has its time. */
function advances(before: Uint8Array, bytes: Buffer, start: number): boolean {
  let i = 0
  while (i < before.length && bytes[start + i] === before[i]) i++
  const isLater = i < before.length && (bytes[start + i] as number) > (before[i] as number)
  for (; i < before.length; i++) before[i] = bytes[start + i] as number
  return isLater
}
