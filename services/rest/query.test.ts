import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effort } from '../../test/support/effort.ts'
import { Failure } from '../core/failure.ts'
import { parseQuery } from './query.ts'
import { coverageSchema } from './routes/coverage/schema.ts'
import { historySchema } from './routes/history/schema.ts'
import { symbolsSchema } from './routes/symbols/schema.ts'
import { usageSchema } from './routes/usage/schema.ts'

const schemas = [historySchema.query, symbolsSchema.query, coverageSchema.query, usageSchema.query]
const params = schemas.flatMap((schema) =>
  Object.entries(schema.properties).map(([name]) => ({ schema, name })),
)

/** A query in which all parameters but one are valid. */
const filled = (name: string, value: string): URLSearchParams => {
  const query = new URLSearchParams({ symbol: 'A:B:C', resolution: '1', from: '0', to: '1' })
  query.set(name, value)
  return query
}

function parsed(schema: (typeof schemas)[number], query: URLSearchParams): unknown {
  try {
    return parseQuery(schema, query)
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_PARAMS') return error
    throw error
  }
}

const texts = fc
  .oneof(
    fc.integer({ min: -20_000, max: 20_000 }).map(String),
    fc.maxSafeInteger().map(String),
    fc.constantFrom(
      '1D',
      '1W',
      '1M',
      '240',
      '30',
      '1d',
      '0',
      '-0',
      '1.0',
      '1e3',
      '+1',
      ' 1',
      '０',
      '00012',
      'true',
    ),
    fc.string({ unit: 'grapheme', maxLength: 70 }),
    fc.double().map(String),
  )
  .filter((text) => text !== '')

describe('the parser follows the schema', () => {
  test.each(params)('$name', ({ schema, name }) => {
    const property = schema.properties[name as keyof typeof schema.properties] as {
      type?: string
      minimum?: number
    }
    const validate = new Ajv2020({ strict: false }).compile(property)
    fc.assert(
      fc.property(texts, (text) => {
        // An integer is plain digits; other notations of numbers are refused.
        const digits = 'x-signed' in property ? /^-?\d+$/ : /^\d+$/
        const asInteger = digits.test(text) ? Number(text) : text
        const described = validate(property.type === 'integer' ? asInteger : text)
        const isSafe = typeof asInteger !== 'number' || Number.isSafeInteger(asInteger)
        const outcome = parsed(schema, filled(name, text))
        if (isSafe) expect(!(outcome instanceof Failure)).toBe(described)
      }),
      { numRuns: 500 * effort },
    )
  })

  test.each(params)('$name sent twice is refused by its name', ({ schema, name }) => {
    const query = filled(name, '1')
    query.append(name, '1')
    expect(parsed(schema, query)).toMatchObject({ message: expect.stringMatching(`^${name}: `) as string })
  })

  test.each(params)('empty $name equals absent $name', ({ schema, name }) => {
    const without = filled(name, '')
    without.delete(name)
    expect(parsed(schema, filled(name, ''))).toEqual(parsed(schema, without))
  })

  test.each(params)('empty $name beside a value is ignored', ({ schema, name }) => {
    const query = filled(name, '1')
    query.append(name, '')
    expect(parsed(schema, query)).toEqual(parsed(schema, filled(name, '1')))
  })
})
