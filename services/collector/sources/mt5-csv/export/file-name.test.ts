import { expect, test } from 'vitest'
import { seriesOfFile } from './file-name.ts'

test.each([
  ['EURUSD_M1.csv', 'EURUSD', 'M1', '1'],
  ['EURUSD.z_H1_201701020000_201712292300.csv', 'EURUSD.z', 'H1', '60'],
  ['BRKb_CFD.US_D1.csv', 'BRKb_CFD.US', 'D1', '1D'],
  ['A_B_MN1_x.CSV', 'A_B', 'MN1', '1M'],
  ['GOLD_raw_M5_M1.csv', 'GOLD_raw', 'M5', '5'],
  ['M1_M1.csv', 'M1', 'M1', '1'],
  ['EURUSD.z_Daily_202611230000_202611250000.csv', 'EURUSD.z', 'Daily', '1D'],
  ['EURUSD_Weekly_202601040000_202611220000.csv', 'EURUSD', 'Weekly', '1W'],
  ['EURUSD_Monthly_202601010000_202611010000.csv', 'EURUSD', 'Monthly', '1M'],
])('the leftmost timeframe in %s ends the raw name', (file, raw, timeframe, resolution) => {
  expect(seriesOfFile(file)).toEqual({ raw, timeframe, resolution, isMt4: false })
})

test.each(['M2', 'M3', 'M4', 'M6', 'M12', 'M20', 'H3', 'H6', 'H8', 'H12'])(
  '%s in a name is a timeframe without a resolution',
  (timeframe) => {
    const unserved = { raw: 'EURUSD', timeframe, resolution: undefined, isMt4: false }
    expect(seriesOfFile(`EURUSD_${timeframe}_202611230000_202611250000.csv`)).toEqual(unserved)
    expect(seriesOfFile(`EURUSD_${timeframe}_M1.csv`)).toEqual(unserved)
  },
)

test.each([
  ['EURUSD1.csv', 'EURUSD', '1', '1'],
  ['EURUSD5.csv', 'EURUSD', '5', '5'],
  ['EURUSD15.csv', 'EURUSD', '15', '15'],
  ['EURUSD30.csv', 'EURUSD', '30', '30'],
  ['AUDJPY60.csv', 'AUDJPY', '60', '60'],
  ['EURUSD.z240.csv', 'EURUSD.z', '240', '240'],
  ['GBPUSD1440.csv', 'GBPUSD', '1440', '1D'],
  ['#AAPL10080.CSV', '#AAPL', '10080', '1W'],
  ['EURUSD+43200.csv', 'EURUSD+', '43200', '1M'],
])('MT4 states the timeframe of %s in minutes', (file, raw, timeframe, resolution) => {
  expect(seriesOfFile(file)).toEqual({ raw, timeframe, resolution, isMt4: true })
})

test.each([
  ['JPN2255.csv', ['JPN225'], { raw: 'JPN225', timeframe: '5', resolution: '5' }],
  ['US301440.csv', ['US', 'US30'], { raw: 'US30', timeframe: '1440', resolution: '1D' }],
  ['US3060.csv', ['US500'], undefined],
  ['BRKb_CFD.US60.csv', ['BRKb_CFD.US'], { raw: 'BRKb_CFD.US', timeframe: '60', resolution: '60' }],
  ['US30.csv', ['US30'], undefined],
  ['JPN225.csv', ['JPN225'], undefined],
] as const)('%s is read with the known raw names %j as %j', (file, symbols, series) => {
  expect(seriesOfFile(file, symbols)).toEqual(series && { ...series, isMt4: true })
})

test.each([
  'EURUSD.csv',
  'EURUSD_M1.txt',
  '_M1.csv',
  'EURUSD_m1.csv',
  'EURUSD120.csv',
  'EURUSD_60.csv',
  'EURUSD_part1.csv',
  'part-1.csv',
  'part 5.csv',
  '60.csv',
  'JPN2255.csv',
  '.csv',
  'notes',
])('%s is no export', (file) => {
  expect(seriesOfFile(file)).toBeUndefined()
})
