import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Fields } from './fields.ts'

const field = (bytes: Buffer | undefined): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes?.length ?? -1)
  return Buffer.concat([length, bytes ?? Buffer.alloc(0)])
}
const bytesOf = (length: number, write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(length)
  write(bytes)
  return bytes
}
/** At an odd offset in a larger buffer, as in real rows. */
const fieldsOf = (...all: (Buffer | undefined)[]): Fields => {
  const data = Buffer.concat([Buffer.from('xyz'), ...all.map(field)])
  return new Fields(new DataView(data.buffer, data.byteOffset, data.length), 3)
}

test('a long is exact up to 2^53, positive or negative', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      expect(fieldsOf(bytesOf(8, (bytes) => bytes.writeBigInt64BE(BigInt(value)))).long()).toBe(value)
    }),
  )
})

test('fields of every type and NULLs are read in sequence', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), fc.string(), fc.boolean(), (double, text, flag) => {
      const fields = fieldsOf(
        bytesOf(8, (bytes) => bytes.writeDoubleBE(double)),
        undefined,
        Buffer.from(text),
        undefined,
        bytesOf(1, (bytes) => bytes.writeUInt8(flag ? 1 : 0)),
        undefined,
        bytesOf(4, (bytes) => bytes.writeInt32BE(-7)),
        bytesOf(2, (bytes) => bytes.writeInt16BE(300)),
      )
      expect(fields.double()).toBe(double)
      expect(fields.double()).toBeNaN()
      expect(fields.text()).toBe(Buffer.from(text).toString())
      expect(fields.text()).toBeUndefined()
      expect(fields.boolean()).toBe(flag)
      expect([fields.long(), fields.long(), fields.long()]).toEqual([Number.NaN, -7, 300])
    }),
  )
})

test('reading a number of unknown width throws', () => {
  expect(() => fieldsOf(Buffer.alloc(3)).long()).toThrow(RangeError)
  expect(() => fieldsOf(Buffer.alloc(4)).double()).toThrow(RangeError)
})
