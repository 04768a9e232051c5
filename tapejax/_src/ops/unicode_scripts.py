"""The script of each character of Unicode, as the numbers that ICU gives to scripts.

References:
    Unicode Standard Annex 24, "Unicode Script Property", and the file `Scripts.txt` of the Unicode
    Character Database.
"""

from __future__ import annotations

import base64
import functools
import zlib
from typing import Any

import numpy as np

# Runs of characters of one script: the lengths as numbers of 7 bits a byte, low ones first and all
# but the last marked, then one byte for each run's script; compressed.
_RUNS = (
    "c-p0uYiu1y7036Snc3N$-MjbU>wA5#?Rz(_ef@sh@gqs?B(0k$k&`wMCrwpFqV0h;^g&Y8huT`{BUGeqT0|cfq=AOg0-"
    "`O@gg~JIf%*X<@c}B3P(Sb$3H1X4K7hoTy|xpFra|ic-JRK;nLX$1Isci>Ww$&CX;4L|!Y@RpQkcJ6f<Otte*nQ(9%iD"
    "<<AARN)Nlj^OnA-G4HUQ#*)<S@3CeH?+9KG9VrV4VfMNjC(1HNLcq8P3G_+nX(^!_^Az}eETbAhaz4SmLC@isESJvmy!"
    "tW}676LR!qO(ST&*9YP6&k)52x*C-)_lKW*UnkHLW{(1&LFsKMDk()6l_q0QrQu-AJC{${B{vC!sA|Q1i@~N_UpsOnyX"
    "K6%sc^@vNNM#!_8os`<!Uv&;T_rbJ>aK8WiEQgq9BLQ$Z8AMO56nXi&!6pj~!CJLg?X>^KEAy9j$hF5-6f!H&4?=4;*R"
    "QyQkY-HNd&yL-{aMb#>Hh(M=62aV|GLmL!^H=}WlYjfv=arf(9HD{_2%8+XsR!{|fvg`%|;}*mjXvKh6N0^=2Df`9jm?"
    "tMiT8JTE_oDDT0V$h%*XCK(6bviL$(n;{P>WdLAZmPhQ2$kNoWCbR7aGu3D#Qf{00SOOi8!+^U1KvYG()yq$QM*8XgsA"
    "C@$V92_}m~2LVQH&dLAY<Mo{!MtR>#lUxxkR`%vccvBQ!t(UTJP+G4|vC{!=p44Jq+%v52vdi@~mdkxNy&i>~W5KsAH!"
    "XNq`<`3@k+HMo$==TKu!nl*(oEN(B06=>HtzsU)NUXwyA0>6#+N6q{O(uz^mp@CQ+&#caKD`hY<?v%${)TvaO@~UA!3J"
    "fOYrc^ED`I9A*LOvjvH86U8bET;$9NWE-g1F~eyobbGz*fA8-*d1c^yj{qqYZ?;EMRWICn7E4@Wt;;WRYMc3(8BURB|M"
    "Wz@5KsKTMN%XZo2jRkN5&Z1v1-is_VfIb#GTPuJcS3Q4-Ei2U`psZjvZjyN%kUU~F--<%A-gO+uoig;-3td33L3ueXL%"
    "n<Z#As?%yIr1nl{3@BMa20ouV-&dzUa@(N*cCsl}p;V<B;<@{ezGXa?rOqQ7zX#a5pI9%8R!rYtxp@?mor4N~kZxO`s~"
    "<*aNJ`THCdOaZ?Rb+N^KJw9K4`jkoLxfj1^=4WYs(L+G114+k)4-sbITojS%lv>zhVDq{8#ZMR<fge`{e8Q0~$gD+Q`G"
    "gvwckRD0FlD_ROP{FU@oyIpj@ZYPxC(ms?Cw0{d;9vz^GiMBk+o&4eR0nR|A*Xb9)>;fO`q!Yh=)Ny{{C{2xCvjM0rFU"
    "FBmb*ixgs)jP^3Sz@fa%1mMb<-IksFG0OOOv2{L(S_G+bv-Hhb<t$SKmWnI+|M-@@tQ)UXzQk9Zn!<hV*JNdL}g$YPSW"
    "KR~}=T}u2Arxh%kUjt^kcS;_3*1cxureCswW-BoMoBHAH);oKO*T+|W_DQl+nJh4nRf3&o$M9+FledIvK5o*`VZINOWj"
    "^ovq|aN@U4lPqFC|jqNVs2z`A|-BcDuX^3*vsbfyEt0$mgokeo1Rzq;&UJ046%j6W#~E#kRNO-~+&;{n1;~FE^c(e+hn"
    "5JM*Vrs2p5`58=eW1E+Ke%7Ms<X!)|OMMoZZBoZ1D&`GHGb^|)tMhte)0xdjD57VcZHbP3)7%+~Jba^sYApJ2^KZdKWK"
    ">J72NSC9$hIN;rMox{IK9bH0IGxlIQi2oa0=hCT)746`6H^b<>rfx{ClnK!9fs<3(a;KGG)5ch6enonc3J`GYUZ99nz@"
    "0P&wDnOdkCBhP$}|C5yLGIl$IrNS?nuLiU0g2IqZRDw4yFb7)aVlnxv8@T~EM9%m03_=TJ6*U&vY@$1UYK!n{*(3Zy7U"
    "ELtjXm$M^w5p^?<euliGHjEO-QJQ88H_}~<+2!oIlkUvXJUR0;-$GmJv^+wO9KOgkzZh}E?qNF2J}fql(&`RKu;Q+3oF"
    "gLe>R)Idoy2t#QI1xqPY<sl8RN7isiQmSv({3DDk<7e<21gBHjzI%LL>BD=1cT4vnOHj0!Qe`iD&2;`ljUo9XLdXXzx?"
    "ROwn2%f12)R?xlMlqK6)!2OcELKH6zHLuWYh^9etuv-C4MN1HA8(S7tH^F`(qy}$zhI&*rJXPGD008d^r@EztP^D6TS("
    "@ZZh-$?iYJx9;|oYwNwgtzET`WC&m%<Bnntl@_j@gsWF?&@2q&UMV!=qP<P;R$BPDsR(G2}{pA?{Zz2Xz5*U3VGI6fu5"
    "&hD=cevbvH!IMf|_Hn=F&7{A8JTnB&a16INvNNx8&%-l0!Ib`4Ilo&O8j0Z4}"
)
_COUNT = 0x110000


@functools.lru_cache(maxsize=1)
def _runs() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Where the runs end, and their scripts."""
    data = zlib.decompress(base64.b85decode(_RUNS))
    lengths: list[int] = []
    value = shift = at = total = 0
    while total < _COUNT:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        if data[at] < 0x80:
            lengths.append(value)
            total += value
            value = shift = 0
        at += 1
    return np.cumsum(lengths), np.frombuffer(data[at:], np.uint8).astype(np.int32)


def script_codes(codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The scripts of characters.

    Args:
        codes: Integers of any shape.

    Returns:
        int32 of the same shape: ICU's `UScriptCode`, -1 for what is no character.
    """
    ends, scripts = _runs()
    inside = (codes >= 0) & (codes < _COUNT)
    places = np.searchsorted(ends, np.where(inside, codes, 0), "right")
    return np.where(inside, scripts[places], -1).astype(np.int32)
