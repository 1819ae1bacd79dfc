import { appendFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { exportText, minutes } from '../../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../../test/support/fixtures/import-fixture.ts'
import { barCount } from '../../../core/bars/bar.ts'
import { hasChanged, inspectFile } from './inspect-file.ts'
import { readLines } from './read-lines.ts'
import { Refusals } from './refusals.ts'

useImportFixture({ ZERO: {} })

const bars = minutes(Date.UTC(2024, 0, 8) / 1000, 3, 1.1, 5)
const good = exportText(bars)
/** The last column is the volume, of three digits. */
const narrow = good.replaceAll(/\t(<VOL>|0)\t(<SPREAD>|0)\r\n/g, '\r\n')
const mt4 = narrow
  .slice(narrow.indexOf('\n') + 1)
  .replaceAll(/:00\t/g, '\t')
  .replaceAll('\t', ',')

describe('a last line without its line end', () => {
  test('is stored when it has all columns of its header', async () => {
    const { code, json } = await fixture.importing(
      fixture.write(good.trimEnd()),
      ...seriesOptions('ALL'),
      '--json',
    )
    expect([code, json['accepted'], json['unended_line']]).toEqual([0, 3, undefined])
  })

  test('is refused when it has fewer columns than its header, and its minute is not claimed', async () => {
    const cut = good.replace(/\d\t0\t0\r\n$/, '')
    const { code, json } = await fixture.importing(fixture.write(cut), ...seriesOptions('CUT'), '--json')
    expect([code, json['accepted']]).toEqual([65, 2])
    expect(json['refusals']).toEqual([
      { line: 4, reason: 'it has no line end and 7 columns; the layout has 9' },
    ])
    expect(json['windows']).toEqual([{ from: bars[0]?.time, to: bars[2]?.time }])
  })

  test.for([
    ['MT5', narrow.trimEnd(), 4],
    ['MT4', mt4.trimEnd(), 3],
  ] as const)(
    'is stored and reported when its last column is the volume (%s)',
    async ([name, text, line]) => {
      const { code, json } = await fixture.importing(
        fixture.write(text),
        ...seriesOptions(`${name}FILE`),
        '--json',
      )
      expect([code, json['accepted'], json['unended_line']]).toEqual([0, 3, line])
      const piped = await fixture.importingPiped(Buffer.from(text), ...seriesOptions(`${name}PIPE`))
      expect([piped.code, piped.stdout]).toEqual([
        0,
        expect.stringContaining(`line ${line} has no line end; if it was cut`),
      ])
      expect(await fixture.history(`BROKERA:ZERO:${name}PIPE`, '1')).toEqual(bars)
    },
  )

  test('is refused when its last column is the volume and the file was written during the import', async () => {
    const path = fixture.write(narrow.slice(0, -3))
    const file = { path, name: path }
    const state = await inspectFile(file)
    await appendFile(path, '9')
    const feedNow = () => undefined
    const rules = { resolution: '1', decimalsMax: 5, feedNow } as const
    const refusals = new Refusals({ resolution: '1', now: feedNow })
    let accepted = 0
    for await (const piece of readLines(
      file,
      { ...rules, hasChanged: () => hasChanged(path, state) },
      refusals,
    ))
      accepted += barCount(piece)
    expect([accepted, refusals.first]).toEqual([
      2,
      [
        {
          line: 4,
          reason: 'it has no line end, and the file was written during the import; import it again',
        },
      ],
    ])
  })
})
