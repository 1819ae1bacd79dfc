import { readFileSync } from 'node:fs'

/** A bar as the specification names it, with the time in seconds on the feed's clock. */
export interface Bar {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** An MT5 export read by a parser of the suite's own, so that the service's cannot agree with itself. */
const readExport = (name: string): Bar[] =>
  readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8')
    .split('\r\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => {
      const cells = line.split('\t')
      const clock = cells.length === 9 ? cells.splice(1, 1)[0] : '00:00:00'
      const [date = '', open, high, low, close, volume] = cells
      return {
        time: Date.parse(`${date.replaceAll('.', '-')}T${clock}Z`) / 1000,
        open: Number(open),
        high: Number(high),
        low: Number(low),
        close: Number(close),
        volume: Number(volume),
      }
    })

const kept = new Map<string, Bar[]>()
const once = (name: string): Bar[] => {
  const known = kept.get(name) ?? readExport(name)
  kept.set(name, known)
  return known
}

export const bitcoinMinutes = (): Bar[] => once('BTCUSD_M1_201311.csv')
export const euroHours = (): Bar[] => once('EURUSD_H1_2017.csv')
export const googleDays = (): Bar[] => once('GOOGL_D1.csv')

/** The plain fold: one bar per bucket of `seconds`, from bars in time order. */
export const fold = (bars: readonly Bar[], seconds: number): Bar[] => {
  const buckets = new Map<number, Bar>()
  for (const bar of bars) {
    const time = bar.time - (((bar.time % seconds) + seconds) % seconds)
    const sofar = buckets.get(time)
    buckets.set(
      time,
      sofar === undefined
        ? { ...bar, time }
        : {
            time,
            open: sofar.open,
            high: Math.max(sofar.high, bar.high),
            low: Math.min(sofar.low, bar.low),
            close: bar.close,
            volume: sofar.volume + bar.volume,
          },
    )
  }
  return [...buckets.values()]
}

/** `count` minutes of a price that moves and never repeats a bar, the first opening at `from`. */
export const minutes = (from: number, count: number, price: number, digits: number): Bar[] => {
  const unit = 10 ** -digits
  const at = (steps: number) => Number((price + steps * unit).toFixed(digits))
  return Array.from({ length: count }, (_, index) => ({
    time: from + index * 60,
    open: at(index),
    high: at(index + 7),
    low: at(index - 5),
    close: at(index + 3),
    volume: 100 + index,
  }))
}

const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\r\n'

/** One line as the terminal exports it; times stand as they are. */
export const line = ({ time, open, high, low, close, volume }: Bar): string => {
  const [date = '', clock = ''] = new Date(time * 1000).toISOString().split('T')
  return `${[date.replaceAll('-', '.'), clock.slice(0, 8), open, high, low, close, volume, 0, 0].join('\t')}\r\n`
}

export const exportText = (bars: readonly Bar[]): string => header + bars.map(line).join('')

/** Daily and longer exports have no time column. */
export const dailyText = (bars: readonly Bar[]): string =>
  [header, ...bars.map(line)].map((text) => text.replace(/^([^\t]+)\t[^\t]+/, '$1')).join('')
