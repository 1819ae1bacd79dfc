import type { Log } from '../../platform/log/log.ts'
import type { SpoolFolder } from './folder.ts'
import { type FoundRecord, recordsIn } from './record.ts'

export interface Segment {
  readonly name: string
  bytes: number
  /** Records that are still in the spool. */
  records: number
}

export interface Place {
  readonly segment: Segment
  readonly offset: number
  readonly length: number
}

const nameOf = (number: number): string => `${String(number).padStart(10, '0')}.spool`
const named = /^(\d{10})\.spool$/
/** Maximum bytes read of one file; no file of a spool comes near it. */
const fileBytesMax = 512 * 1024 * 1024

export interface SegmentsDeps {
  readonly folder: SpoolFolder
  readonly log: Log
  /** Bytes after which a file takes no more records; the next one begins. */
  readonly segmentBytesMax: number
}

/** The files of a spool, oldest first. Records are appended to the newest; others are removed with their last record. */
export class Segments {
  /** Bytes found at the start that belong to no whole record. */
  unreadableBytes = 0
  readonly #deps: SegmentsDeps
  readonly #all: Segment[] = []
  #current: Segment | undefined
  #lastNumber = 0

  constructor(deps: SegmentsDeps) {
    this.#deps = deps
  }

  get bytes(): number {
    return this.#all.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  get oldest(): Segment | undefined {
    return this.#all[0]
  }

  isCurrent(segment: Segment): boolean {
    return segment === this.#current
  }

  /** Yields the records that earlier runs left, in order. No record is appended to their files. */
  async *recover(): AsyncGenerator<{ readonly found: FoundRecord; readonly segment: Segment }> {
    const { folder } = this.#deps
    for (const name of [...(await folder.list())].sort()) {
      const number = Number(named.exec(name)?.[1] ?? Number.NaN)
      if (Number.isNaN(number)) continue
      this.#lastNumber = Math.max(this.#lastNumber, number)
      const bytes = await folder.read(name, 0, fileBytesMax)
      const segment: Segment = { name, bytes: bytes.length, records: 0 }
      this.#all.push(segment)
      let end = 0
      for (const found of recordsIn(bytes)) {
        this.#noteUnreadable(name, end, found.offset, false)
        segment.records += 1
        end = found.offset + found.length
        yield { found, segment }
      }
      this.#noteUnreadable(name, end, bytes.length, true)
    }
  }

  #noteUnreadable(file: string, from: number, to: number, isEnd: boolean): void {
    if (from === to) return
    const { log } = this.#deps
    const bytes = to - from
    this.unreadableBytes += bytes
    // An incomplete write at the end was never reported as spooled.
    if (isEnd)
      log.warn({ file, from, bytes }, 'the last write to a spool file is incomplete; its bytes are dropped')
    else log.error({ file, from, bytes }, 'spool file damaged; unreadable batches are dropped')
  }

  /** Resolves once all records are on the disk; rejects when it is unknown whether they are. */
  async write(records: readonly Uint8Array[]): Promise<readonly Place[]> {
    const segment = this.#segmentFor()
    const offsets: number[] = []
    let end = segment.bytes
    for (const { length } of records) {
      offsets.push(end)
      end += length
    }
    const start = segment.bytes
    segment.bytes = end
    segment.records += records.length
    try {
      await this.#deps.folder.write(segment.name, start, Buffer.concat(records))
    } catch (cause) {
      // Records after a torn one may not be found again, so no more are appended to this file.
      segment.records -= records.length
      this.#current = undefined
      throw cause
    }
    return records.map(({ length }, i) => ({ segment, offset: offsets[i] as number, length }))
  }

  read({ segment, offset, length }: Place): Promise<Uint8Array> {
    return this.#deps.folder.read(segment.name, offset, length)
  }

  /** Removes files without records; empties the current one. */
  async clean(): Promise<void> {
    for (const segment of this.#all.filter(({ records }) => records === 0)) {
      if (segment !== this.#current) await this.drop(segment)
      else if (segment.bytes > 0) {
        await this.#deps.folder.truncate(segment.name)
        segment.bytes = 0
      }
    }
  }

  async drop(segment: Segment): Promise<void> {
    if (segment === this.#current) this.#current = undefined
    await this.#deps.folder.remove(segment.name)
    this.#all.splice(this.#all.indexOf(segment), 1)
  }

  #segmentFor(): Segment {
    if (this.#current && this.#current.bytes < this.#deps.segmentBytesMax) return this.#current
    this.#lastNumber += 1
    this.#current = { name: nameOf(this.#lastNumber), bytes: 0, records: 0 }
    this.#all.push(this.#current)
    return this.#current
  }
}
