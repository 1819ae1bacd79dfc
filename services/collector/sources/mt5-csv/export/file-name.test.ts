import { expect, test } from 'vitest'
import { seriesOfFile } from './file-name.ts'

test.each([
  ['EURUSD_M1.csv', 'EURUSD', '1'],
  ['EURUSD.z_H1_201701020000_201712292300.csv', 'EURUSD.z', '60'],
  ['BRKb_CFD.US_D1.csv', 'BRKb_CFD.US', '1D'],
  ['A_B_MN1_x.CSV', 'A_B', '1M'],
  ['GOLD_raw_M5_M1.csv', 'GOLD_raw', '5'],
  ['M1_M1.csv', 'M1', '1'],
])('the leftmost _<RES> of %s ends the raw name', (file, raw, resolution) => {
  expect(seriesOfFile(file)).toEqual({ raw, resolution })
})

test.each(['EURUSD.csv', 'EURUSD_M1.txt', '_M1.csv', 'EURUSD_M2.csv', 'EURUSD_m1.csv', '.csv', 'notes'])(
  '%s is no export',
  (file) => {
    expect(seriesOfFile(file)).toBeUndefined()
  },
)
