/**
 * Metadata in the styles of cameras, phones, scanners and editors, for ExifTool to write into images.
 */

export type MakerRow = readonly [
  make: string,
  model: string,
  /** The first bytes of the maker note; editors write none. */
  note: string,
  more?: readonly string[],
];

/** Part of every maker note. It must not appear in any output. */
export const NOTE_MARK = 'serial-of-the-owner-0123456789';

export const makers: readonly MakerRow[] = [
  ['Canon', 'Canon EOS R5', '\x1f\0', ['-EXIF:OwnerName=Ada', '-EXIF:LensModel=RF24-105mm F4 L']],
  ['NIKON CORPORATION', 'NIKON Z 7_2', 'Nikon\0\x02\x11\0\0', ['-EXIF:SensingMethod#=2']],
  ['SONY', 'ILCE-7M4', 'SONY DSC \0\0\0', ['-EXIF:BrightnessValue=7.5']],
  ['FUJIFILM', 'X-T5', 'FUJIFILM\x0c\0\0\0', ['-EXIF:Sharpness#=0']],
  ['OLYMPUS CORPORATION', 'E-M1MarkIII', 'OLYMPUS\0II\x03\0', ['-EXIF:GainControl#=1']],
  ['OM Digital Solutions', 'OM-1', 'OM SYSTEM\0\0\0II\x04\0'],
  ['Panasonic', 'DC-GH6', 'Panasonic\0\0\0', ['-EXIF:SceneType#=1']],
  ['LEICA CAMERA AG', 'LEICA Q3', 'LEICA\0\x02\0', ['-EXIF:Artist=Ada']],
  ['PENTAX', 'PENTAX K-3 III', 'PENTAX \0II', ['-EXIF:SubjectDistanceRange#=3']],
  ['RICOH IMAGING COMPANY, LTD.', 'RICOH GR III', 'RICOH\0II'],
  ['Hasselblad', 'X2D 100C', 'Hasselblad\0', ['-EXIF:ISO=64']],
  ['Phase One', 'IQ4 150MP', 'IIII'],
  ['SIGMA', 'SIGMA fp L', 'SIGMA\0\0\0\x01\0'],
  ['Minolta Co., Ltd.', 'DiMAGE 7', 'MLT0', ['-EXIF:LightSource#=1']],
  ['CASIO COMPUTER CO.,LTD.', 'EX-ZR1000', 'QVC\0\0\0'],
  ['EASTMAN KODAK COMPANY', 'KODAK EASYSHARE Z990', 'KDK INFO'],
  ['SAMSUNG', 'NX500', 'SAMSUNG\0'],
  ['Apple', 'iPhone 15 Pro', 'Apple iOS\0\0\x01MM', ['-EXIF:HostComputer=iPhone 15 Pro']],
  ['samsung', 'SM-S928B', '\x07\0\x01\0\x07\0', ['-EXIF:ImageUniqueID=X50LLWD']],
  ['Google', 'Pixel 8 Pro', 'HDRP\x02', ['-EXIF:CompositeImage#=3']],
  ['HUAWEI', 'ELS-NX9', 'HUAWEI\0\0'],
  ['Xiaomi', '2201123G', '{"mirror":false}', ['-EXIF:XResolution=72']],
  ['OnePlus', 'CPH2449', 'oplus_0'],
  ['motorola', 'moto g84', 'MOT\0'],
  ['DJI', 'FC3582', 'DJI\0', ['-XMP-dc:Description=from above']],
  ['GoPro', 'HERO12 Black', 'GoPro\0', ['-EXIF:DigitalZoomRatio=1']],
  ['Parrot', 'ANAFI', 'Parrot\0', ['-EXIF:MaxApertureValue=2.4']],
  ['FLIR Systems AB', 'FLIR E8', 'FLIR\0', ['-EXIF:SubjectArea=160 120 20 20']],
  ['EPSON', 'Perfection V850', 'EPSON MN', ['-EXIF:CreateDate=2024:06:07 08:09:10']],
  ['Adobe', 'Lightroom', '', ['-XMP-crs:Exposure2012=+1.0', '-XMP-xmpMM:DocumentID=xmp.did:1']],
  ['GIMP', 'GIMP 2.10', '', ['-EXIF:Software=GIMP 2.10', '-XMP-xmp:CreatorTool=GIMP']],
  ['Capture One', '23', '', ['-XMP-photoshop:Credit=Ada', '-XMP-xmpRights:Marked=true']],
];

/** Returns ExifTool arguments in the order of the sections: image, exposure, GPS, XMP. */
export function wordsOf([make, model, , more = []]: MakerRow): string[] {
  return [
    `-EXIF:Make=${make}`,
    `-EXIF:Model=${model}`,
    '-EXIF:Orientation#=1',
    '-EXIF:Software=1.0',
    '-EXIF:ModifyDate=2024:05:07 00:00:00',
    '-EXIF:Copyright=Ada',
    '-EXIF:ExposureTime=1/250',
    '-EXIF:FNumber=4',
    '-EXIF:ExposureProgram#=2',
    '-EXIF:ISO=400',
    '-EXIF:DateTimeOriginal=2024:05:06 07:08:09',
    '-EXIF:OffsetTimeOriginal=+02:00',
    '-EXIF:SubSecTimeOriginal=25',
    '-EXIF:ShutterSpeedValue=1/250',
    '-EXIF:ApertureValue=4',
    '-EXIF:ExposureCompensation=-0.3',
    '-EXIF:MeteringMode#=5',
    '-EXIF:Flash#=16',
    '-EXIF:FocalLength=35',
    '-EXIF:ColorSpace#=1',
    '-EXIF:WhiteBalance#=0',
    '-EXIF:FocalLengthIn35mmFormat=52',
    '-EXIF:SerialNumber=42',
    '-EXIF:GPSLatitude=52.52',
    '-EXIF:GPSLatitudeRef=N',
    '-EXIF:GPSLongitude=13.405',
    '-EXIF:GPSLongitudeRef=E',
    '-EXIF:GPSDateStamp=2024:05:06',
    '-EXIF:GPSTimeStamp=05:08:09',
    '-XMP-dc:Title=Harbour',
    '-XMP-xmp:Rating=4',
    ...more,
  ];
}
