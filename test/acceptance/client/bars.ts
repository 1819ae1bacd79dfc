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

/** Reads an MT5 export with a separate parser: comparing the service with its own parser would prove nothing. */
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

const cache = new Map<string, Bar[]>()
const cached = (name: string): Bar[] => {
  const known = cache.get(name) ?? readExport(name)
  cache.set(name, known)
  return known
}

export const bitcoinMinutes = (): Bar[] => cached('BTCUSD_M1_201311.csv')
export const euroHours = (): Bar[] => cached('EURUSD_H1_2017.csv')
export const googleDays = (): Bar[] => cached('GOOGL_D1.csv')

/** Folds bars in time order into one bar per bucket of `seconds`. */
export const fold = (bars: readonly Bar[], seconds: number): Bar[] => {
  const buckets = new Map<number, Bar>()
  for (const bar of bars) {
    const time = bar.time - (((bar.time % seconds) + seconds) % seconds)
    const folded = buckets.get(time)
    buckets.set(
      time,
      folded === undefined
        ? { ...bar, time }
        : {
            time,
            open: folded.open,
            high: Math.max(folded.high, bar.high),
            low: Math.min(folded.low, bar.low),
            close: bar.close,
            volume: folded.volume + bar.volume,
          },
    )
  }
  return [...buckets.values()]
}

/** `count` minutes from `from` (seconds) on, all with different prices and volumes. */
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

/** One line as the terminal exports it; the time is written unchanged. */
export const line = ({ time, open, high, low, close, volume }: Bar): string => {
  const [date = '', clock = ''] = new Date(time * 1000).toISOString().split('T')
  return `${[date.replaceAll('-', '.'), clock.slice(0, 8), open, high, low, close, volume, 0, 0].join('\t')}\r\n`
}

export const exportText = (bars: readonly Bar[]): string => header + bars.map(line).join('')

/** Daily and longer exports have no time column. */
export const dailyText = (bars: readonly Bar[]): string =>
  [header, ...bars.map(line)].map((text) => text.replace(/^([^\t]+)\t[^\t]+/, '$1')).join('')
