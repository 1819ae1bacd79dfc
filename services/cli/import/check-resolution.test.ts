import { expect, test } from 'vitest'
import { checkResolution } from './check-resolution.ts'

test.for([
  ['EURUSD_H1_2017.csv', '60; state its resolution, or rename the file.'],
  ['EURUSD.z_M30_2024.csv', '30; 30 is never stored, so import an export of 1.'],
] as const)('%s is refused as bars of another resolution', ([name, end]) => {
  expect(() => checkResolution(`exports/${name}`, '1')).toThrow(
    `--resolution is 1, but exports/${name} has the name of an export of ${end}`,
  )
})

test.for([
  ['EURUSD_H1_2017.csv', '60'],
  ['EURUSD_M1.csv', '1'],
  ['bars.csv', '1'],
  ['standard input', '15'],
] as const)('%s may have bars of resolution %s', ([name, resolution]) => {
  expect(() => checkResolution(name, resolution)).not.toThrow()
})
