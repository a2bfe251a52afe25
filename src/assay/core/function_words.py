"""Words that ask and connect, but name nothing."""

STOP_WORDS = {
    "en": "a about all also am an and any are as at be been being by can could did do does doing for from had"
    " has have having he her hers him his how i if in into is it its may me my not of on or our she should so"
    " some such that the their them then there these they this those to was we were what when where which"
    " who whom whose why will with would you your",
    "de": "aber alle als also am an ans auch auf aus bei beim bin bis bist darf das dass dem den der des dich"
    " die dies diese dieser dir doch du durch durfte dürfen ein eine einem einen einer er es euch für gegen"
    " gewesen gibt haben hat hatte hatten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja kann"
    " konnte konnten können man mein meine mich mir mit muss musste mussten müssen nach nicht noch nur ob oder"
    " sei sein seine seinem seinen seiner sich sie sind so soll sollen sollte um und uns unter über vom von vor"
    " wann war waren warum was wäre welche welcher welches wenn wer werden wie wir wird wo worden wurde wurden"
    " zu zum zur zwischen",
    "fr": "ai as au aura auront aux avaient avait avec avez avons à ce ces cet cette comme comment dans de des"
    " du elle en est et eu eux étaient était être il ils je la le les leur leurs lui ma mais mes mon ne nos"
    " notre nous on ont ou où par pas plus pour pourquoi quand que quel quelle quelles quels qui quoi sa se"
    " sera seront ses soit son sont sur ta tes ton tu un une vos votre vous y",
    "es": "a al como con cómo cual cuales cuál cuándo de del desde donde dónde el ella en entre era eran es"
    " esta este esto fue fueron ha había habían han hay he hemos la las le les lo los más me mi no nos o para"
    " pero por porque que qué quién se será serán si sin sobre son su sus te tu un una y",
    "it": "a ai al alla che chi come con da dal del della delle dei di dove e è gli i il in la le lo ma nel nella non"
    " o per perché più quale quali quando quanto se si sono su sul un una uno",
    "pt": "a ao aos as com como da das de do dos e é em entre foi mais mas na nas no nos não o os ou para pela pelo por"
    " porque quais qual quando que quem se são sem seu sua um uma",
    "nl": "aan als bij dat de der deze die dit door een en er het hoe hun ik in is je kan met naar niet of om ook op te"
    " tot uit van voor waar waarom wanneer wat welke wie wordt zijn zo",
    "ar": "في من على إلى عن مع هل ما ماذا متى أين كيف لماذا كم أي هو هي هم هذا هذه ذلك تلك التي الذي الذين أن إن"
    " كان كانت يكون تكون قد لا لم لن كل بين عند حتى إذا لكن به بها له لها فيه فيها منه منها و أو ثم",
    "hi": "का की के को में से पर और है हैं था थी थे हो होता होती होते एक यह ये वह वे इस उस इन उन ने तो भी कि जो लिए गया गई"
    " गए किया करता करती करते करने या तक द्वारा साथ अपने अपनी अपना नहीं क्या कौन किस किसने किसे कब कहाँ कहां कैसे क्यों कितने"
    " कितना कितनी कौनसा कौनसी कुछ बाद रूप जाता जाती जाते रहा रही रहे",
    "ru": "а без был была были было быть в вам вас во вот все вы где для до его ее если есть же за и из или им их к как"
    " какая какие какой ко когда которая которые который кто ли мы на над не него нее ни но о об он она они от по под"
    " почему при с со так такой то только у уже что чтобы эта эти это этот я",
    "pl": "a aby albo ale ani aż bardzo bez był była było były być bo by ci co czego czemu czy czyj czyja czyje"
    " czyim czym dla dlaczego do dokąd gdy gdzie go i ich ile ilu im ja jak jaka jaką jaki jakich jakie"
    " jakiego jakiej jakim jakimi jako je jego jej jest jestem jeśli jeszcze już każdy kiedy kim kogo komu kto"
    " która którą które którego której który których którym którzy lub ma mają mi mnie mu my na nad nas nie"
    " nich nim niż o od on ona one oni ono oraz po pod podczas ponieważ przed przez przy są się skąd swój"
    " swoje ta tak także tam te tego tej ten to tu tych tylko tym u w we wtedy z za zaś ze został została"
    " zostało zostały że",
    "cs": "a aby ale ani až bez by byl byla byli bylo byly být co či čeho čem čím do ho i jak jaká jaké jaký jakou"
    " jakého jakém jakým jako je jeho její jejich jemu jen jestli ještě jsem jsi jsme jsou k kam kde kdo kdy"
    " kolik ke která které kterého kterém kterou který kterých koho komu kým kvůli má mají mezi mi mu my na"
    " nad než nebo není o od odkud on ona oni ono po pod podle pokud proč pro proto protože před při s se si"
    " so své svůj ta tak také takže tam ten tento této to tohoto tom tomto tu ty u už v ve však z za ze že",
    "uk": "а або але без би був була були було бути в вам вас ваш ви від він вона вони воно все всі де для до же з"
    " за зі і із їй її їх й його йому коли кого кому куди ким лише ми на над нам нас не ним них ні о об один"
    " ось по при про під після та так такий там те ти тим то тоді того той тому у хто хіба це цей цього ця ці"
    " чи чий чия чиє чого чому чим що щоб щодо як яка яке який якого якої якому якій яким яких якою які яку"
    " скільки звідки навіщо є",
    "he": "אבל או אז אחר אחרי איזה איזו אילו אין איפה איך אך אל אלה אליו אם אנחנו אני אף את אתה אתם באיזה באיזו"
    " באילו בו בה בין בהם גם דרך ה הוא היא הייתה היה היו היכן הם הן הנה זאת זה זו יותר יש כבר כדי כי כל כמה"
    " כמו כן כאשר לא לאן לו לה להם למה לפי לפני מאוד מאין מדוע מה מהו מהי מהם מהן מי מיהו מיהי ממי למי מכיוון"
    " מן מעל מתי מתחת נגד עד על עם של שלו שלה שלהם שם תחת",
    "fa": "آن آنان آنها آن‌ها آیا ا از است اما اند او این با بر برای بود بودند بوده به بی تا تر ترین چرا چطور چقدر"
    " چگونه چند چندمین چه چیز چیست حتی خود خواهد دارد داشت در درباره دیگر را سپس شان شد شده شدن شدند شود طی"
    " کدام کجا کجاست کرد کردن کردند کرده کسی کن کند کنند که کی کیست گر گرفت گیرد ما مگر می من ن نمی ها های"
    " هایی هر هم همچنین همه هنوز هیچ و ولی وی یا یک یی ی ای ات اش ام چی هستند هست نیست باشد باشند بین",
    "bn": "অথবা অনেক আছে আমরা আমাদের আমার আমি আর এ এই এক একটি একটা এবং এর এরা ও ওই ওর কখন কবে করা করে করেন করেছিল"
    " করেছিলেন করেছেন করতে কাকে কার কারা কি কিন্তু কিভাবে কী কীভাবে কে কেন কেমন কোথায় কোথা কোন কোনো কোনটি কত"
    " কতটা কতটি কতজন কতদিন কয়টি গিয়ে চেয়ে জন্য তখন তবে তা তাই তাঁর তাঁরা তাদের তার তারা তিনি তুমি তো থেকে"
    " দিয়ে দ্বারা না নয় নিয়ে নেই পর পরে পর্যন্ত বলে বা মধ্যে মাধ্যমে যখন যা যাকে যায় যার যারা যে যেখানে"
    " যেমন সঙ্গে সাথে সে সেই হচ্ছে হতে হন হয় হয়ে হয়েছিল হয়েছে হলো হিসেবে ছিল ছিলেন ছিলো",
    "ta": "அது அதை அந்த அவர் அவர்கள் அவன் அவள் அவை அல்லது ஆக ஆகும் ஆனால் இது இதை இந்த இருந்து இருந்தது இல்லை இவை"
    " உள்ள உள்ளது எங்கு எங்கே எத்தனை எந்த எப்படி எப்போது என என்ற என்று என்ன எவ்வளவு எவ்வாறு ஏன் ஒரு ஓர் கொண்டு"
    " தான் தன் நான் நாம் பற்றி மற்றும் மீது மேலும் யார் யாரை யாருக்கு யாருடைய வரை எது எவை எதை",
    "id": "adalah agar akan antara apa apakah atau bagaimana bagi bahwa berapa beberapa bisa dalam dan dapat dari"
    " dengan di dia hanya harus ini itu jika juga kapan karena ke kenapa kepada ketika lebih maka manakah mana"
    " mengapa mereka namun oleh pada para sebagai sebuah sejak seorang seperti serta siapa siapakah suatu"
    " sudah telah tentang tersebut tetapi tidak untuk yaitu yang",
    "fi": "että ei eivät he hän hänen hänet ja jo joka joiden joissa joita jolla jonka jos jossa josta jota jotka"
    " kanssa kauan kenen keneltä kenelle ketkä ketä kuin kuinka kuka kun me mihin mikä miksi mille millainen"
    " millä milloin minkä minä missä mistä miten mitkä mitä montako moni mukaan mutta myös ne niiden niin nyt"
    " oli olivat olla ollut on ovat paljonko se sekä sen siitä sitä tai tämä tämän tässä vai voi voiko",
    "sv": "alla att av blev bli blir de dem den denna deras dess det detta dig din du där efter eller en er ett"
    " från för ha hade han hans har hon honom hur här i inte jag kan med mellan men mot mycket många när någon"
    " något nu och om på samma sedan sig sin sina som till under upp ut vad vara varför varit var varifrån"
    " vars vart vem vems vi vid vilka vilken vilket åt än är över",
    "da": "af alle at blev blive bliver da de dem den denne der deres det dette du efter eller en er et for fra ham"
    " han hans har havde hende hun hvad hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke"
    " jeg kan man mange med mellem men mod når og om op over på sig sin som til ud under var ved vi være været",
    "no": "alle at av ble bli blir da de dem den denne der deres det dette du eller en er et etter for fra før ham"
    " han hans har hadde henne hun hva hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke jeg kan"
    " man mange med mellom men mot når og om opp over på seg sin som til under ut var ved vi være vært",
    "hu": "a az abban ahhoz akkor aki akik ami amely amelyek amit arra azok azt be csak de egy egyik el ennek ez"
    " ezek ezt ha hány hányan hogy hogyan hol honnan hova hová is itt kell ki kik kinek kit kivel lett maga"
    " már még meg mely melyek melyik melyiket mennyi mert mi mik mikor milyen minden mint mit miért mivel"
    " nagyon nem ő ők olyan össze pedig s sem szerint után vagy van vannak volt voltak",
}
"""By language. Those without a stemmer, and those that ask in many forms, after the lists of stopwords-iso (MIT) and
Snowball, without words that have a topic; the Tamil ones are pronouns, conjunctions and words that ask."""
MORE_STOP_WORDS = frozenset(
    """
    above according across actually add added adding adds after against along among aren't around because before
    being below between both brief briefly but called can't cannot come compare comparison concerning current
    currently deal deals describe described describes detail details didn't difference differences different
    document documents doesn't doing don't done during each either else ever every exactly explain far few find
    further get give given gives go handle handled handles happen happens hasn't having he her here hers him his
    however information isn't itself just kind know last let like list made main mainly make makes many mean
    means might mine more most much must name need needed needs never no nor now off once one only other
    otherwise out over overview own part parts per please point present provide really regarding s said same say
    says shall she show since something specified still summarise summarize summary t take tell than there's
    thing things through today together too towards under until up upon us use used uses using versus very via
    vs want way ways well what's whatever whether while who's within without work working works yes yet
    allem allen aller alles beschreibe bist bitte da dabei damit dann dazu dein denn dich diesem diesen dieses
    dort eines erkläre etwas euch euer funktioniert hab habe hatte hier ihm ihn ihnen ihre jede jedem jeden
    jeder jedes kein keine können lauten lautet macht mehr mein muss nenne ohne sehr seit soll sollte unser viele weil
    welchem welchen wem wen werden weshalb wessen wieso wieviel wir woher wohin wurde wurden
    бы весь всё да делает ей ему еще ещё её зачем каким какими каких какого каком какую кем кого кому либо нас
    ней нет них ну оно опиши про работает расскажи сколько также там тогда того тоже той том ты чего чей чем
    через чья этого этой этом является
    بعد بعض حول قبل منذ
    """.split()
)
"""More words of questions that carry no topic."""
