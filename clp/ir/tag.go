package ir

// Tags. The same byte can mean different things in different places.
const (
	tagEnd = 0x00

	tagMetaJSON  = 0x01
	tagMetaLen8  = 0x11
	tagMetaLen16 = 0x12

	tagDict8  = 0x11
	tagDict16 = 0x12
	tagDict32 = 0x13
	tagVar4   = 0x18
	tagVar8   = 0x19

	tagLogtype8  = 0x21
	tagLogtype16 = 0x22
	tagLogtype32 = 0x23

	tagTime    = 0x30
	tagDelta8  = 0x31
	tagDelta16 = 0x32
	tagDelta32 = 0x33
	tagDelta64 = 0x34

	tagUTCOffset = 0x3F

	tagString8  = 0x41
	tagString16 = 0x42
	tagString32 = 0x43

	tagInt8  = 0x51
	tagInt16 = 0x52
	tagInt32 = 0x53
	tagInt64 = 0x54
	tagFloat = 0x56
	tagTrue  = 0x57
	tagFalse = 0x58
	tagText4 = 0x59
	tagText8 = 0x5A
	tagEmpty = 0x5E
	tagNull  = 0x5F

	tagParent8  = 0x60
	tagParent16 = 0x61
	tagParent32 = 0x62

	tagID8  = 0x65
	tagID16 = 0x66
	tagID32 = 0x67
)

// EndMark is the byte that ends a stream.
const EndMark = tagEnd

// Magic numbers.
const (
	magicFour  = "\xFD\x2F\xB5\x29"
	magicEight = "\xFD\x2F\xB5\x30"
)

// nodeType is the type of a key: the tag of its insertion.
type nodeType uint8

const (
	nodeInt    nodeType = 0x71
	nodeFloat  nodeType = 0x72
	nodeBool   nodeType = 0x73
	nodeString nodeType = 0x74
	nodeArray  nodeType = 0x75
	nodeObject nodeType = 0x76
)
