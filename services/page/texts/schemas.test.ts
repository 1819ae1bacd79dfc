import { expect, test } from 'vitest'
import { schemaText, typeText } from './schemas.ts'

test.for([
  [{ type: 'integer' }, 'integer'],
  [{ type: 'integer', maximum: 10_000 }, 'integer, at most 10,000'],
  [{ type: 'string', maxLength: 64 }, 'string of at most 64 characters'],
  [{ const: 'ok' }, '"ok"'],
  [{ enum: ['ok', 'degraded'] }, '"ok" | "degraded"'],
  [{ type: 'array', items: { enum: ['1', '5'] } }, '("1" | "5")[]'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
] as const)('the type of %j is %s', ([schema, text]) => expect(typeText(schema)).toBe(text))

test('an answer is an outline of its fields, of lists and of values with any names', () => {
  const range = {
    type: 'object',
    required: ['from'],
    properties: { from: { type: 'integer', description: 'Open.' } },
  }
  const schema = {
    anyOf: [
      { type: 'object', required: ['list'], properties: { list: { type: 'array', items: range } } },
      {
        type: 'object',
        properties: { all: { type: 'object', patternProperties: { '.*': { type: 'array', items: range } } } },
      },
    ],
  }
  expect(schemaText(schema)).toBe(
    [
      'list: object[]',
      '  from: integer  Open.',
      'or',
      'all?: object',
      '  <name>: object[]',
      '    from: integer  Open.',
    ].join('\n'),
  )
})
