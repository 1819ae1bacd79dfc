import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { serverFrames } from '../../../frames/server-frames.ts'
import { asyncapiDocument } from './document.ts'

const document = JSON.parse(JSON.stringify(asyncapiDocument())) as object

function* references(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    if (name === '$ref') yield String(child)
    else yield* references(child)
  }
}
const resolve = (reference: string): unknown =>
  reference
    .slice(2)
    .split('/')
    .reduce((found: unknown, name) => (found as Record<string, unknown> | undefined)?.[name], document)

describe('/asyncapi.json', () => {
  test('every reference has a target', () => {
    const all = [...references(document)]
    expect(all.length).toBeGreaterThan(40)
    for (const reference of all) expect(resolve(reference), reference).toBeDefined()
  })

  test('no keyword begins with x-: internal keywords are left out', () => {
    expect(JSON.stringify(document)).not.toContain('"x-')
  })

  test('each operation of the channel uses messages of the channel', () => {
    const { operations } = document as {
      operations: Record<string, { action: string; messages: { $ref: string }[] }>
    }
    expect(Object.entries(operations).map(([name, { action }]) => [name, action])).toEqual([
      ['subscribe', 'receive'],
      ['unsubscribe', 'receive'],
      ['ping', 'receive'],
      ['push', 'send'],
    ])
    for (const { messages } of Object.values(operations))
      for (const { $ref } of messages) expect($ref).toMatch(/^#\/channels\/stream\/messages\/\w+$/)
  })

  test("every schema compiles in a validator's strict mode", () => {
    const ajv = new Ajv2020({ strict: true })
    for (const schema of Object.values(serverFrames)) expect(() => ajv.compile(schema)).not.toThrow()
  })
})
